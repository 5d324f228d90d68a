"""Encoders and rerankers by the spec that a user types: `medcpt`, `onnx:FOLDER`, `mine=sentence-transformers:PATH`."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Encoder
from wardround.literature.encoders.rerankers import MEDCPT, Reranker

HERE = "wardround.literature.encoders"
# imported only when named: most need packages that others do not
KINDS = {
    "wordllama": f"{HERE}.wordllama:make",
    "sentence-transformers": f"{HERE}.sentences:make",
    "bge-large-en-v1.5": f"{HERE}.sentences:make_bge",
    "minilm": f"{HERE}.sentences:make_minilm",
    "medcpt": f"{HERE}.medcpt:make",
    "onnx": f"{HERE}.onnx_folder:make",
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
TAKEN = ("bm25",)


def named(spec: str) -> tuple[str, str, str]:
    """Of a spec: the name of the column, the kind of encoder, and the model that it takes."""
    name, equals, rest = spec.partition("=")
    if not equals or not NAME.fullmatch(name):
        name, rest = "", spec
    kind, _, model = rest.partition(":")
    if kind not in KINDS:
        raise WardroundError(f"unknown encoder {rest!r}; there are {', '.join(KINDS)}")
    if not name:  # the kind itself, or what its model is called
        last = re.split(r"[/,]", model.rstrip("/"))[-1]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", last).strip("-._") or kind if model and kind != "medcpt" else kind
    if name in TAKEN:
        raise WardroundError(f"column {name!r} cannot be had: that retriever is built in; name it, as in mine={rest}")
    return name, kind, model


def make_encoder(spec: str, device: str = "auto", *, fetch: bool = False) -> Encoder:
    """The encoder that a spec names. With `fetch`, a model that is not on this machine is fetched from the hub."""
    name, kind, model = named(spec)
    model = ",".join(str(Path(each).resolve()) if each and Path(each).is_dir() else each for each in model.split(","))
    module, function = KINDS[kind].split(":")
    make: Callable[[str, str, str, bool], Any] = getattr(import_module(module), function)
    encoder: Encoder = make(name, model, device, fetch)
    encoder.spec = {"encoder": f"{name}={kind}:{model}" if model else f"{name}={kind}", **encoder.spec}
    return encoder


def make_reranker(spec: str, device: str = "auto", *, fetch: bool = False) -> Reranker:
    """`medcpt-cross-encoder`, or `cross-encoder:MODEL` with a folder or a name on the hub."""
    if spec == "medcpt-cross-encoder":
        return Reranker(spec, MEDCPT, device, fetch)
    kind, _, model = spec.partition(":")
    if kind != "cross-encoder" or not model:
        raise WardroundError(f"unknown reranker {spec!r}; there are medcpt-cross-encoder and cross-encoder:MODEL")
    return Reranker(spec, model, device, fetch)
