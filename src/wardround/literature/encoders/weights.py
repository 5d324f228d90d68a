"""Weights: a model's files on this machine, or downloaded if allowed; loaded, and identified by hash."""

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
CONNECT_SECONDS = 5  # to wait for a hub


def import_package(name: str, extra: str) -> ModuleType:
    """A package that only some encoders need."""
    try:
        return import_module(name)
    except ImportError as error:
        raise WardroundError(f"{name} cannot be loaded ({error}): pip install 'wardround[{extra}]'") from None


def load_model(model: str, loader: Callable[[bool], Loaded], fetch: bool) -> Loaded:
    """Calls `loader(local_only)`: from this machine, else, with `fetch`, from the hub.

    An unreachable hub is detected here, because the libraries retry for minutes.
    """
    try:
        return loader(True)
    except (OSError, ValueError, KeyError) as error:
        if Path(model).exists():
            raise WardroundError(f"{model} is not a model that can be loaded: {first_line(error)}") from None
    if not fetch or os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0"):
        raise WardroundError(f"model {model} is not on this machine: `hf download {model}`, or name its folder")
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    url = urlsplit(hub)
    try:
        socket.create_connection((url.hostname or "", url.port or 443), CONNECT_SECONDS).close()
    except OSError:
        raise WardroundError(
            f"model {model} is not on this machine, and {hub} cannot be reached: name its folder"
        ) from None
    try:
        return loader(False)
    except (OSError, ValueError, KeyError) as error:
        raise WardroundError(f"model {model} cannot be loaded from {hub}: {first_line(error)}") from None


def digest(files: Iterable[Path]) -> str:
    """A short hash of the contents of files."""
    hasher = hashlib.sha256()
    for file in files:
        hasher.update(bytes.fromhex(sha256_file(file)))
    return hasher.hexdigest()[:16]


def first_line(error: Exception) -> str:
    """The first line of an error's message; its class if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
