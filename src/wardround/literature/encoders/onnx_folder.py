"""ONNX: a folder with model.onnx and tokenizer.json, run by onnxruntime without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson

from wardround.core.errors import BadInput
from wardround.literature.encoders.encoder import Article, Encoder, Vectors, normalised, told
from wardround.literature.encoders.weights import digest, package

TOKENS = 512  # where the folder does not say how many the model takes
# of the sentence-transformers layout, which exported folders keep
POOLING, LENGTH, PROMPTS = "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"


class OnnxFolder(Encoder):
    """Mean of the tokens, or the first one where the folder's pooling says so; cosine."""

    def __init__(self, name: str, folder: Path, device: str) -> None:
        network, tokens = (
            next((place for place in (folder / file, folder / "onnx" / file) if place.is_file()), folder / file)
            for file in ("model.onnx", "tokenizer.json")
        )
        for file in (network, tokens):
            if not file.is_file():
                raise BadInput(file, "is missing; an ONNX folder has model.onnx and tokenizer.json")
        runtime = package("onnxruntime", "onnx")
        wanted = [] if device == "cpu" else ["CUDAExecutionProvider"]
        there = runtime.get_available_providers()
        try:
            self._session = runtime.InferenceSession(
                network, providers=[each for each in [*wanted, "CPUExecutionProvider"] if each in there]
            )
            self._tokenizer = package("tokenizers", "onnx").Tokenizer.from_file(str(tokens))
        except Exception as error:  # both libraries raise classes of their own
            raise BadInput(folder, f"cannot be loaded: {str(error).splitlines()[0]}") from None
        limit = int(_told(folder / LENGTH).get("max_seq_length") or TOKENS)
        self._tokenizer.enable_truncation(limit)
        pad = self._tokenizer.padding or {}
        self._tokenizer.enable_padding(
            pad_id=pad.get("pad_id", _token(self._tokenizer, "[PAD]", "<pad>")),
            pad_token=pad.get("pad_token", "[PAD]"),
        )
        prompts = _told(folder / PROMPTS).get("prompts") or {}
        self._query, self._document = prompts.get("query") or "", prompts.get("document") or ""
        self._first = bool(_told(folder / POOLING).get("pooling_mode_cls_token"))
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._outputs = [each.name for each in self._session.get_outputs()]
        self.name = name
        self.dimension = self._pass(["one"]).shape[1]
        self.spec = {
            "dimension": self.dimension,
            "weights": digest([network, tokens]),
            "instruction": self._query or None,
            "document_instruction": self._document or None,
            "pooling": "first" if self._first else "mean",
            "cosine": True,
            "tokens": limit,
        }

    def _queries(self, texts: list[str]) -> Vectors:
        return self._pass([self._query + text for text in texts])

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._pass([self._document + told(article) for article in articles])

    def _pass(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        known = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], np.int64),
        }
        made = self._session.run(None, {name: known[name] for name in self._inputs})
        found = dict(zip(self._outputs, made, strict=True))
        if "sentence_embedding" in found:  # pooled already
            return normalised(found["sentence_embedding"])
        states = np.asarray(found.get("last_hidden_state", made[0]), np.float32)
        if states.ndim == 2:
            return normalised(states)
        if self._first:
            return normalised(states[:, 0])
        weights = mask.astype(np.float32)[:, :, None]
        return normalised((states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1))


def _told(file: Path) -> dict[str, Any]:
    """What a file of settings says; nothing where there is none."""
    if not file.is_file():
        return {}
    try:
        said = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadInput(file, f"is not JSON: {error}") from None
    return said if isinstance(said, dict) else {}


def _token(tokenizer: Any, *names: str) -> int:
    return next((found for name in names if (found := tokenizer.token_to_id(name)) is not None), 0)


def make(name: str, model: str, device: str, fetch: bool) -> OnnxFolder:
    """`onnx:FOLDER`."""
    return OnnxFolder(name, Path(model), device)
