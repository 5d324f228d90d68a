"""What encoders and rerankers on PyTorch share: device, precision, passes through the model, the hash of weights."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Vectors
from wardround.literature.encoders.weights import load, package

BATCH = {"cpu": 32, "cuda": 256}
PASSES = {"cpu": 1, "cuda": 3}  # on a GPU one pass computes while the next are tokenised and the last is fetched


def device_named(device: str) -> str:
    """cpu or cuda; `auto` is cuda where there is one."""
    there = bool(package("torch", "dense").cuda.is_available())
    if device == "auto":
        return "cuda" if there else "cpu"
    if device not in BATCH:
        raise WardroundError(f"device is auto, cpu or cuda, not {device!r}")
    if device == "cuda" and not there:
        raise WardroundError("there is no CUDA device here that PyTorch can use")
    return device


class TorchModel:
    """A model on its device, in half precision where that is a GPU: much faster, and cosines keep three digits."""

    def __init__(self, model: Any, device: str) -> None:
        self.weights = weights_hash(model)
        self._torch, self._device, self._tokenising = package("torch", "dense"), device, Lock()
        self._model = model.eval().to(device, self._torch.float16 if device == "cuda" else self._torch.float32)

    def __call__(self, features: Callable[[], Any], pick: Callable[[Any, dict[str, Any]], Any]) -> Vectors:
        """One pass: makes features, which tokenizers do for one thread at a time, and picks what is wanted."""
        with self._tokenising:
            made = features()
        with self._torch.inference_mode():
            moved = {
                key: value.to(self._device, non_blocking=True) if hasattr(value, "to") else value
                for key, value in made.items()
            }
            found: Vectors = pick(self._model, moved).float().cpu().numpy()
        return found


def weights_hash(model: Any) -> str:
    """Of the numbers themselves, so that it is the same wherever the files lie and however they are packed."""
    whole = hashlib.sha256()
    for name, numbers in sorted(model.named_parameters()):
        whole.update(name.encode())
        whole.update(np.ascontiguousarray(numbers.detach().float().cpu().numpy()).data)
    return whole.hexdigest()[:16]


def from_transformers(kind: str, model: str, fetch: bool) -> tuple[Any, Any]:
    """A model of `transformers`, in full precision, and its tokenizer."""
    transformers = package("transformers", "dense")
    transformers.utils.logging.set_verbosity_error()  # progress bars and advice are not for our users
    transformers.utils.logging.disable_progress_bar()
    torch = package("torch", "dense")

    def loader(local: bool) -> tuple[Any, Any]:
        return (
            getattr(transformers, kind).from_pretrained(model, dtype=torch.float32, local_files_only=local),
            transformers.AutoTokenizer.from_pretrained(model, local_files_only=local),
        )

    return load(model, loader, fetch)


def tokenized(tokenizer: Any, tokens: int, *texts: list[Any]) -> Any:
    """Texts, or pairs of them, as a model takes them: cut to so many tokens, as long as the longest."""
    return tokenizer(*texts, truncation=True, padding=True, max_length=tokens, return_tensors="pt")
