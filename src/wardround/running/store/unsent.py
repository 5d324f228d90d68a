"""Writes that a lost server did not take: kept in a file until they are committed, by this process or a later one."""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wardround.running.store.location import PostgresAddress
from wardround.running.store.writes import Write, from_json, to_json


@dataclass(frozen=True)
class UnsentGroup:
    """Writes of one commit: of which writer, and its how many-th commit."""

    file: Path
    writer: str
    number: int
    writes: list[Write]


class UnsentWrites:
    """At most one file of one writer, in a folder of the user for each store."""

    def __init__(self, address: PostgresAddress, writer: str) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self.folder = Path(state) / "wardround" / "unsent" / hashlib.sha256(str(address).encode()).hexdigest()[:16]
        self.file = self.folder / f"{writer}.json"
        self._writer = writer
        self._open: BinaryIO | None = None

    def keep(self, number: int, writes: Sequence[Write]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._open = os.fdopen(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "r+b")
        fcntl.flock(self._open, fcntl.LOCK_EX)
        self._open.write(b"%d\n" % number + to_json(writes))
        self._open.flush()
        os.fsync(self._open.fileno())

    def forget(self) -> None:
        """They are committed."""
        if self._open is not None:
            self.file.unlink(missing_ok=True)
            self._open.close()
            self._open = None

    def left_behind(self) -> Iterator[UnsentGroup]:
        """The groups of processes that ended before the server was back, each locked until the next is taken."""
        for file in sorted(self.folder.glob("*.json")):
            with suppress(BlockingIOError, FileNotFoundError), file.open("rb") as unsent:
                fcntl.flock(unsent, fcntl.LOCK_EX | fcntl.LOCK_NB)
                number, _, text = unsent.read().partition(b"\n")
                with suppress(ValueError):  # killed while it was written: nothing of it can be read
                    yield UnsentGroup(file, file.stem, int(number), from_json(text))
