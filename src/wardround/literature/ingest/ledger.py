"""The ledger: the files to read, their order, and the result of each.

sources.json          the files, in the order in which they replace each other; written before the first is read
records/00000/        the records of the first: NNNNN.parquet and entry.json; appears complete or not at all
"""

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.files import write_file

FORMAT = 2  # of the Parquet files; files of an older format are read again


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The result of reading one file."""

    source: str
    size: int
    changed: int  # modification time in nanoseconds
    sha256: str
    records: int
    deletions: int
    problems: int
    named: list[str]  # the first problems
    format: int = FORMAT

    def is_of(self, source: Path) -> bool:
        """Whether the file is still the one that was read; it is hashed only if its modification time differs."""
        status = source.stat()
        return status.st_size == self.size and (
            status.st_mtime_ns == self.changed or sha256_file(source) == self.sha256
        )


def read_entries(folder: Path) -> dict[int, LedgerEntry]:
    """The entry of each file that was read, by its number in the order."""
    entry_by_number = {}
    for number in range(len(planned_files(folder))):
        file = records_folder(folder, number) / "entry.json"
        with suppress(FileNotFoundError, orjson.JSONDecodeError, TypeError):  # not read, or damaged
            entry = LedgerEntry(**orjson.loads(file.read_bytes()))
            if entry.format == FORMAT:
                entry_by_number[number] = entry
    return entry_by_number


def planned_files(folder: Path) -> list[str]:
    """The files in their order."""
    file = folder / "sources.json"
    try:
        return list(orjson.loads(file.read_bytes())) if file.exists() else []
    except orjson.JSONDecodeError as error:
        raise BadInput(file, f"is not JSON: {error}") from None


def plan_files(folder: Path, files: Sequence[Path]) -> list[str]:
    """Appends new files to the order, and returns it."""
    order = list(dict.fromkeys([*planned_files(folder), *map(str, files)]))
    write_file(folder / "sources.json", orjson.dumps(order, option=orjson.OPT_INDENT_2))
    return order


def records_folder(folder: Path, number: int) -> Path:
    return folder / "records" / f"{number:05}"


@contextmanager
def locked(folder: Path, name: str = ".lock") -> Iterator[None]:
    """One build at a time. The lock ends with the process, however it ends."""
    try:
        (folder / "records").mkdir(parents=True, exist_ok=True)
        lock = (folder / name).open("ab")
    except OSError as error:
        raise BadInput(folder, describe_unreadable(error)) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(folder, "another build is writing to this folder; wait for it or stop it") from None
        yield
