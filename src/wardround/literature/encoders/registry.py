"""Encoders and rerankers by the spec that users type: `medcpt`, `onnx:FOLDER`, `mine=sentence-transformers:PATH`."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Encoder
from wardround.literature.encoders.rerankers import MEDCPT, Reranker

PACKAGE = "wardround.literature.encoders"
# imported on demand: most need packages of their own
KINDS = {
    "wordllama": f"{PACKAGE}.wordllama:make",
    "sentence-transformers": f"{PACKAGE}.sentences:make",
    "bge-large-en-v1.5": f"{PACKAGE}.sentences:make_bge",
    "minilm": f"{PACKAGE}.sentences:make_minilm",
    "medcpt": f"{PACKAGE}.medcpt:make",
    "onnx": f"{PACKAGE}.onnx_folder:make",
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
RESERVED_NAMES = ("bm25",)


def parse_spec(spec: str) -> tuple[str, str, str]:
    """The column's name, the kind of encoder, and its model."""
    name, equals, rest = spec.partition("=")
    if not equals or not NAME.fullmatch(name):
        name, rest = "", spec
    kind, _, model = rest.partition(":")
    if kind not in KINDS:
        raise WardroundError(f"unknown encoder {rest!r}; there are {', '.join(KINDS)}")
    if not name:  # the kind, or the name of its model
        base_name = re.split(r"[/,]", model.rstrip("/"))[-1]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", base_name).strip("-._") or kind if model and kind != "medcpt" else kind
    if name in RESERVED_NAMES:
        raise WardroundError(f"column {name!r}: the name is reserved; choose another, as in mine={rest}")
    return name, kind, model


def make_encoder(spec: str, device: str = "auto", *, fetch: bool = False) -> Encoder:
    """The encoder of a spec. With `fetch`, a model that is not on this machine is downloaded from the hub."""
    name, kind, model = parse_spec(spec)
    model = ",".join(str(Path(part).resolve()) if part and Path(part).is_dir() else part for part in model.split(","))
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
