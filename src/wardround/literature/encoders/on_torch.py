"""Shared by encoders and rerankers on PyTorch: device, precision, passes through the model, hash of weights."""

import hashlib
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Vectors
from wardround.literature.encoders.weights import import_package, load_model

BATCH = {"cpu": 32, "cuda": 256}
PASSES = {"cpu": 1, "cuda": 3}  # on a GPU one pass computes while others are tokenised or copied back


def choose_device(device: str) -> str:
    """cpu or cuda; `auto` is cuda if available."""
    has_cuda = bool(import_package("torch", "dense").cuda.is_available())
    if device == "auto":
        return "cuda" if has_cuda else "cpu"
    if device not in BATCH:
        raise WardroundError(f"device is auto, cpu or cuda, not {device!r}")
    if device == "cuda" and not has_cuda:
        raise WardroundError("PyTorch finds no CUDA device on this machine")
    return device


class TorchModel:
    """A model on its device, on a GPU in half precision: much faster, and cosines keep three digits."""

    def __init__(self, model: Any, device: str) -> None:
        self.weights = weights_hash(model)
        self._torch, self._device, self._tokenising = import_package("torch", "dense"), device, Lock()
        self._model = model.eval().to(device, self._torch.float16 if device == "cuda" else self._torch.float32)

    def __call__(self, features: Callable[[], Any], compute: Callable[[Any, dict[str, Any]], Any]) -> Vectors:
        """One pass: `features` tokenises, one thread at a time, and `compute` runs the model."""
        with self._tokenising:
            inputs = features()
        with self._torch.inference_mode():
            on_device = {
                key: value.to(self._device, non_blocking=True) if hasattr(value, "to") else value
                for key, value in inputs.items()
            }
            vectors: Vectors = compute(self._model, on_device).float().cpu().numpy()
        return vectors


def weights_hash(model: Any) -> str:
    """The hash of the parameters themselves, independent of file names and formats."""
    hasher = hashlib.sha256()
    for name, values in sorted(model.named_parameters()):
        hasher.update(name.encode())
        hasher.update(np.ascontiguousarray(values.detach().float().cpu().numpy()).data)
    return hasher.hexdigest()[:16]


def load_transformers(kind: str, model: str, fetch: bool) -> tuple[Any, Any]:
    """A model of `transformers`, in full precision, and its tokenizer."""
    transformers = import_package("transformers", "dense")
    transformers.utils.logging.set_verbosity_error()  # no progress bars or advice
    transformers.utils.logging.disable_progress_bar()
    torch = import_package("torch", "dense")

    def load_pair(local: bool) -> tuple[Any, Any]:
        return (
            getattr(transformers, kind).from_pretrained(model, dtype=torch.float32, local_files_only=local),
            transformers.AutoTokenizer.from_pretrained(model, local_files_only=local),
        )

    return load_model(model, load_pair, fetch)


def tokenize(tokenizer: Any, tokens: int, *texts: list[Any]) -> Any:
    """Texts, or pairs of texts, as model inputs: truncated to `tokens`, padded to the longest."""
    return tokenizer(*texts, truncation=True, padding=True, max_length=tokens, return_tensors="pt")
