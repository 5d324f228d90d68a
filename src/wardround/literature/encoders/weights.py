"""Weights: a model's files on this machine, or fetched where that is allowed; loaded, and told apart by hash."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar
from urllib.parse import urlsplit

from wardround.core.canonical import sha256_file
from wardround.core.errors import WardroundError

Loaded = TypeVar("Loaded")
PATIENCE = 5  # seconds until a hub that does not answer is given up


def package(name: str, extra: str) -> ModuleType:
    """A package that only some encoders need."""
    try:
        return import_module(name)
    except ImportError as error:
        raise WardroundError(f"{name} cannot be loaded ({error}): pip install 'wardround[{extra}]'") from None


def load(model: str, loader: Callable[[bool], Loaded], fetch: bool) -> Loaded:
    """What `loader(local_only)` makes of a model: from this machine, else, with `fetch`, from the hub.

    A hub that cannot be reached is found out here: the libraries try again for minutes.
    """
    try:
        return loader(True)
    except (OSError, ValueError, KeyError) as error:
        if Path(model).exists():
            raise WardroundError(f"{model} is no model that can be loaded: {_line(error)}") from None
    if not fetch or os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0"):
        raise WardroundError(f"model {model} is not on this machine: `hf download {model}`, or name its folder")
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    place = urlsplit(hub)
    try:
        socket.create_connection((place.hostname or "", place.port or 443), PATIENCE).close()
    except OSError:
        raise WardroundError(
            f"model {model} is not on this machine, and {hub} cannot be reached: name its folder"
        ) from None
    try:
        return loader(False)
    except (OSError, ValueError, KeyError) as error:
        raise WardroundError(f"model {model} cannot be loaded from {hub}: {_line(error)}") from None


def digest(files: Iterable[Path]) -> str:
    """One short hash of files, of their contents alone."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(bytes.fromhex(sha256_file(file)))
    return whole.hexdigest()[:16]


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
