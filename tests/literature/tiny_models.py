"""Tiny models with random weights, in the layouts of their libraries, for tests without downloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["fever", "cough", "lung", "heart", "of", "the", "and", "with", "in", "a", "pain", "liver", "##s"]


def save_tokenizer(folder: Path) -> Any:
    """A tokenizer of a few words that sees pairs as BERT does, as transformers saves and loads it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789.," for prefix in ("", "##")]
    vocabulary = list(dict.fromkeys([*SPECIAL, *WORDS, *letters]))
    made = Tokenizer(models.WordPiece({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    settings = {f"{name.strip('[]').lower()}_token": name for name in SPECIAL}
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return made


def save_bert(folder: Path, seed: int, kind: str = "BertModel", **settings: Any) -> Any:
    """A BERT of two layers and 32 dimensions, with its tokenizer."""
    import torch
    import transformers

    tokenizer = save_tokenizer(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=512,
        initializer_range=0.5,
        **settings,
    )
    model = getattr(transformers, kind)(config).eval()
    model.save_pretrained(folder)
    return model


def save_lookup(file: Path, table: np.ndarray) -> None:
    """An ONNX model that looks tokens up in a table, its protocol buffers written by hand."""

    def value(name: str, kind: int, *shape: str | int) -> bytes:
        sizes = [_field(1, _field(2, size.encode()) if isinstance(size, str) else _field(1, size)) for size in shape]
        return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, b"".join(sizes))))

    numbers = b"".join(_field(1, size) for size in table.shape) + _field(2, 1)
    numbers += _field(8, b"table") + _field(9, np.ascontiguousarray(table, "<f4").tobytes())
    node = _field(1, b"table") + _field(1, b"input_ids") + _field(2, b"last_hidden_state") + _field(4, b"Gather")
    graph = _field(1, node) + _field(2, b"lookup") + _field(5, numbers)
    graph += b"".join(_field(11, value(name, 7, "texts", "tokens")) for name in ("input_ids", "attention_mask"))
    graph += _field(12, value("last_hidden_state", 1, "texts", "tokens", table.shape[1]))
    file.write_bytes(_field(1, 10) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 17)))


def _field(number: int, value: int | bytes) -> bytes:
    """One field of a protocol buffer: a number, or a text or message with its length before it."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])
