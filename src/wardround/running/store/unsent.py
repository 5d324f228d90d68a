"""Writes that a lost server did not take: kept in a file until they are committed, by this process or a later one."""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wardround.core.store.location import PostgresAddress
from wardround.running.store.writes import Write, from_json, to_json


@dataclass(frozen=True)
class UnsentGroup:
    """Writes of one commit: of which writer, and its how many-th commit."""

    file: Path
    writer: str
    number: int
    writes: list[Write]


class UnsentWrites:
    """A file for each commit of one writer, in a folder of the user for each store."""

    def __init__(self, address: PostgresAddress, writer: str) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self.folder = Path(state) / "wardround" / "unsent" / hashlib.sha256(str(address).encode()).hexdigest()[:16]
        self._writer = writer
        self._open: dict[int, BinaryIO] = {}  # locked as long as this process lives

    def keep(self, number: int, writes: Sequence[Write]) -> Path:
        """Writes a commit to its file."""
        self.forget(number)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self.folder / f"{self._writer}-{number}.json"
        kept = self._open[number] = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        fcntl.flock(kept, fcntl.LOCK_EX)
        kept.write(to_json(writes))
        kept.flush()
        os.fsync(kept.fileno())
        return file

    def forget(self, number: int) -> None:
        """It is committed."""
        if kept := self._open.pop(number, None):
            (self.folder / f"{self._writer}-{number}.json").unlink(missing_ok=True)
            kept.close()

    def left_behind(self) -> Iterator[UnsentGroup]:
        """The groups of processes that ended before the server was back, each locked until the next is taken."""
        for file in sorted(self.folder.glob("*.json")):
            with suppress(BlockingIOError, FileNotFoundError), file.open("rb") as unsent:
                fcntl.flock(unsent, fcntl.LOCK_EX | fcntl.LOCK_NB)
                writer, _, number = file.stem.partition("-")
                with suppress(ValueError):  # killed while it was written: nothing of it can be read
                    yield UnsentGroup(file, writer, int(number), from_json(unsent.read()))
