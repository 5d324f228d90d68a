"""Where an index is: a local folder, or an address of an object store."""

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
MISSING = "literature needs packages that are not installed: pip install 'wardround[literature]'"


def is_address(location: str | Path) -> bool:
    return ADDRESS.match(str(location)) is not None


def work_folder(location: str | Path) -> Path:
    """The folder for an index's ledger and records: inside it, or in the cache for an object store."""
    if not is_address(location):
        return Path(location) / "work"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "wardround" / "literature" / re.sub(r"[^A-Za-z0-9.-]+", "_", str(location)).strip("_")


def connect(location: str | Path) -> Connection:
    """The tables of an index. An object store is configured by its usual variables (AWS_ENDPOINT_URL, ...)."""
    try:
        import lancedb
    except ImportError:
        raise WardroundError(MISSING) from None
    is_plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
    options = {"allow_http": "true"} if is_plain and is_address(location) else {}
    with one_line_errors(location):
        return lancedb.connect(str(location), storage_options=options)


def table_names(connection: Connection) -> list[str]:
    """The names of all tables."""
    names: list[str] = []
    page = None
    while True:
        reply = connection.list_tables(page_token=page)
        names += reply.tables
        if not (page := reply.page_token):
            return names


@contextmanager
def one_line_errors(location: str | Path) -> Iterator[None]:
    """Turns errors of a file system or a store into one line."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise WardroundError(f"{location}: {_line(error)}") from error


def _line(error: Exception) -> str:
    """The message in a store's reply, or the beginning of LanceDB's."""
    text = str(error).strip() or type(error).__name__
    message = re.search(r"<Message>(.*?)</Message>", text)
    return message[1] if message else text.split("\n")[0][:300]
