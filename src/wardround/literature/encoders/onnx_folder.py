"""ONNX: a folder with model.onnx and tokenizer.json, run by onnxruntime without PyTorch."""

from pathlib import Path
from typing import Any

import numpy as np
import orjson

from wardround.core.errors import BadInput
from wardround.literature.encoders.encoder import Article, Encoder, Vectors, join_article, normalize
from wardround.literature.encoders.weights import digest, import_package

TOKENS = 512  # if the folder does not state the model's limit
# files of the sentence-transformers layout, which exported folders keep
POOLING, LENGTH, PROMPTS = "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"


class OnnxEncoder(Encoder):
    """Mean of the tokens, or the first token if the folder's pooling says so; cosine."""

    def __init__(self, name: str, folder: Path, device: str) -> None:
        network, tokens = (
            next((path for path in (folder / file, folder / "onnx" / file) if path.is_file()), folder / file)
            for file in ("model.onnx", "tokenizer.json")
        )
        for file in (network, tokens):
            if not file.is_file():
                raise BadInput(file, "is missing; an ONNX folder has model.onnx and tokenizer.json")
        runtime = import_package("onnxruntime", "onnx")
        preferred = [] if device == "cpu" else ["CUDAExecutionProvider"]
        available = runtime.get_available_providers()
        try:
            self._session = runtime.InferenceSession(
                network,
                providers=[provider for provider in [*preferred, "CPUExecutionProvider"] if provider in available],
            )
            self._tokenizer = import_package("tokenizers", "onnx").Tokenizer.from_file(str(tokens))
        except Exception as error:  # both libraries raise their own classes
            raise BadInput(folder, f"cannot be loaded: {str(error).splitlines()[0]}") from None
        limit = int(_read_settings(folder / LENGTH).get("max_seq_length") or TOKENS)
        self._tokenizer.enable_truncation(limit)
        pad = self._tokenizer.padding or {}
        self._tokenizer.enable_padding(
            pad_id=pad.get("pad_id", _token(self._tokenizer, "[PAD]", "<pad>")),
            pad_token=pad.get("pad_token", "[PAD]"),
        )
        prompts = _read_settings(folder / PROMPTS).get("prompts") or {}
        self._query, self._document = prompts.get("query") or "", prompts.get("document") or ""
        self._first = bool(_read_settings(folder / POOLING).get("pooling_mode_cls_token"))
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._outputs = [node.name for node in self._session.get_outputs()]
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
        return self._pass([self._document + join_article(article) for article in articles])

    def _pass(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([encoding.attention_mask for encoding in encoded], np.int64)
        inputs = {
            "input_ids": np.array([encoding.ids for encoding in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([encoding.type_ids for encoding in encoded], np.int64),
        }
        outputs = self._session.run(None, {name: inputs[name] for name in self._inputs})
        output_by_name = dict(zip(self._outputs, outputs, strict=True))
        if "sentence_embedding" in output_by_name:  # already pooled
            return normalize(output_by_name["sentence_embedding"])
        states = np.asarray(output_by_name.get("last_hidden_state", outputs[0]), np.float32)
        if states.ndim == 2:
            return normalize(states)
        if self._first:
            return normalize(states[:, 0])
        weights = mask.astype(np.float32)[:, :, None]
        return normalize((states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1))


def _read_settings(file: Path) -> dict[str, Any]:
    """The settings in a JSON file; empty if there is no such file."""
    if not file.is_file():
        return {}
    try:
        settings = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadInput(file, f"is not JSON: {error}") from None
    return settings if isinstance(settings, dict) else {}


def _token(tokenizer: Any, *names: str) -> int:
    return next((token_id for name in names if (token_id := tokenizer.token_to_id(name)) is not None), 0)


def make(name: str, model: str, device: str, fetch: bool) -> OnnxEncoder:
    """`onnx:FOLDER`."""
    return OnnxEncoder(name, Path(model), device)
