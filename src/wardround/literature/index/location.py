"""Where an index is: a local folder, or an address of an object store. Everything else is the same for both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError

Connection = Any  # of lancedb, which a core install does not have
Table = Any

ADDRESS = re.compile(r"[a-z][a-z0-9+]+://")
MISSING = "the literature needs packages that are not installed: pip install 'wardround[literature]'"


def is_address(place: str | Path) -> bool:
    return ADDRESS.match(str(place)) is not None


def work_of(place: str | Path) -> Path:
    """The folder for the ledger and the records of an index: in it, or in the cache where it is an object store's."""
    if not is_address(place):
        return Path(place) / "work"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "wardround" / "literature" / re.sub(r"[^A-Za-z0-9.-]+", "_", str(place)).strip("_")


def connect(place: str | Path) -> Connection:
    """The tables at a place. An object store is told by its own variables (AWS_ENDPOINT_URL and the like)."""
    try:
        import lancedb
    except ImportError:
        raise WardroundError(MISSING) from None
    plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
    options = {"allow_http": "true"} if plain and is_address(place) else {}
    with refusals(place):
        return lancedb.connect(str(place), storage_options=options)


def tables(connection: Connection) -> list[str]:
    """The names of all tables."""
    names: list[str] = []
    page = None
    while True:
        told = connection.list_tables(page_token=page)
        names += told.tables
        if not (page := told.page_token):
            return names


@contextmanager
def refusals(place: str | Path) -> Iterator[None]:
    """What a file system or a store refuses, in one line."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise WardroundError(f"{place}: {_line(error)}") from error


def _line(error: Exception) -> str:
    """The sentence that a store answered with, or the beginning of what LanceDB made of it."""
    text = str(error).strip() or type(error).__name__
    answered = re.search(r"<Message>(.*?)</Message>", text)
    return answered[1] if answered else text.split("\n")[0][:300]
