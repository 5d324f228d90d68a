"""The ledger: which files were to be read, in which order, and what came of each.

sources.json          the files, in the order in which they replace each other; written before one is read
records/00000/        what was read of the first: NNNNN.parquet and entry.json. It appears whole or not at all
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput

FORMAT = 1  # of the Parquet files: what an older one holds is read anew


@dataclass(frozen=True, slots=True)
class Entry:
    """What came of one file."""

    source: str
    size: int
    changed: int  # its time of change, in nanoseconds
    sha256: str
    records: int
    deletions: int
    problems: int
    named: list[str]  # the first problems, each with its place
    format: int = FORMAT

    def is_of(self, source: Path) -> bool:
        """Is the file still the one that was read? Where size and time of change agree it is not read to know."""
        told = source.stat()
        return told.st_size == self.size and (told.st_mtime_ns == self.changed or sha256_file(source) == self.sha256)


def entries(folder: Path) -> dict[int, Entry]:
    """The entry of each file that was read, by its place in the order."""
    found = {}
    for place in range(len(planned(folder))):
        file = place_of(folder, place) / "entry.json"
        with suppress(FileNotFoundError, orjson.JSONDecodeError, TypeError):  # not read, or not to be relied on
            entry = Entry(**orjson.loads(file.read_bytes()))
            if entry.format == FORMAT:
                found[place] = entry
    return found


def planned(folder: Path) -> list[str]:
    """The files in their order."""
    file = folder / "sources.json"
    try:
        return list(orjson.loads(file.read_bytes())) if file.exists() else []
    except orjson.JSONDecodeError as error:
        raise BadInput(file, f"is not JSON: {error}") from None


def plan(folder: Path, files: Sequence[Path]) -> list[str]:
    """Adds files to the order, new ones at its end, and returns it."""
    order = list(dict.fromkeys([*planned(folder), *map(str, files)]))
    draft = folder / ".sources.json"
    draft.write_bytes(orjson.dumps(order, option=orjson.OPT_INDENT_2))
    draft.replace(folder / "sources.json")
    return order


def place_of(folder: Path, place: int) -> Path:
    return folder / "records" / f"{place:05}"


@contextmanager
def locked(folder: Path, name: str = ".lock") -> Iterator[None]:
    """One build at a time. The lock ends with the process, however it ends."""
    try:
        (folder / "records").mkdir(parents=True, exist_ok=True)
        lock = (folder / name).open("ab")
    except OSError as error:
        raise BadInput(folder, f"cannot be written: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(folder, "another build is writing to this folder; wait for it or stop it") from None
        yield
