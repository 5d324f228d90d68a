"""Writes tiny GGUF files: a vision projector with random weights for a language model of any width."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Value = bool | int | float | str | list[float]
Tensor = NDArray[np.float32]
ALIGNMENT = 32
VERSION = 3
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9  # GGUF's numbers of value types
TENSOR_F32 = 0


def write_gguf(path: Path, values: dict[str, Value], tensors: dict[str, Tensor]) -> None:
    """A GGUF file: header, values, where each tensor lies, then their bytes, each aligned."""
    head = b"GGUF" + struct.pack("<IQQ", VERSION, len(tensors), len(values))
    head += b"".join(_string(name) + _value(value) for name, value in values.items())
    body = b""
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]  # GGUF names the fastest dimension first
        head += _string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += struct.pack("<IQ", TENSOR_F32, len(body))
        body += _padded(tensor.astype("<f4").tobytes())
    path.write_bytes(_padded(head) + body)


def random_projector(path: Path, language_width: int, seed: int = 0) -> None:
    """A LLaVA projector ("mlp") over a two-block vision transformer: 16 tokens an image, random weights."""
    width, heads, inner, blocks, patch, side = 32, 2, 64, 2, 14, 56
    random = np.random.default_rng(seed)

    def drawn(*shape: int) -> Tensor:
        return random.normal(0, 0.2, shape).astype(np.float32)

    values: dict[str, Value] = {
        "general.architecture": "clip",
        "clip.has_vision_encoder": True,
        "clip.projector_type": "mlp",
        "clip.use_gelu": True,
        "clip.vision.image_size": side,
        "clip.vision.patch_size": patch,
        "clip.vision.embedding_length": width,
        "clip.vision.feed_forward_length": inner,
        "clip.vision.block_count": blocks,
        "clip.vision.projection_dim": language_width,
        "clip.vision.attention.head_count": heads,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
    }
    tensors = {
        "v.patch_embd.weight": drawn(width, 3, patch, patch),
        "v.position_embd.weight": drawn((side // patch) ** 2, width),
        "mm.0.weight": drawn(language_width, width),
        "mm.0.bias": drawn(language_width),
        "mm.2.weight": drawn(language_width, language_width),
        "mm.2.bias": drawn(language_width),
    }
    for block in range(blocks):
        for name, rows, columns in [
            *((f"attn_{part}", width, width) for part in ("q", "k", "v", "out")),
            ("ffn_up", inner, width),
            ("ffn_down", width, inner),
        ]:
            tensors[f"v.blk.{block}.{name}.weight"] = drawn(rows, columns)
            tensors[f"v.blk.{block}.{name}.bias"] = drawn(rows)
        for norm in ("ln1", "ln2"):
            tensors[f"v.blk.{block}.{norm}.weight"] = np.ones(width, np.float32)
            tensors[f"v.blk.{block}.{norm}.bias"] = np.zeros(width, np.float32)
    write_gguf(path, values, tensors)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _value(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", FLOAT32, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + _string(value)
    return struct.pack(f"<IIQ{len(value)}f", ARRAY, FLOAT32, len(value), *value)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % ALIGNMENT)
