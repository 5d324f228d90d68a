"""Leases: which Asks are under way, for all runs that share an answer store."""

import asyncio
import fcntl
import struct
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import BinaryIO

from wardround.core.errors import BadInput

SECONDS_BETWEEN_LOOKS = 0.2
WHOLE_FILE = 0  # as the length of a lock


class Leases:
    """Locks on single bytes of a file beside the store, one byte an Ask. The system ends them with their process."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path = store.with_name(f"{store.name}-leases")
        self._file: BinaryIO | None = None  # made with the first lease: a store that is only read needs none

    @asynccontextmanager
    async def hold(self, ask: bytes, turn: int, is_stored: Callable[[], bool], max_wait: float) -> AsyncIterator[None]:
        """Holds the lease of an Ask. While another run has it, waits until its answers are stored or it has expired."""
        place = (int.from_bytes(ask[:7], "big") + turn) % 2**56
        loop = asyncio.get_running_loop()
        expires = loop.time() + max_wait
        is_ours = self._lock(place, fcntl.F_WRLCK)
        while not is_ours and loop.time() < expires and not is_stored():
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            is_ours = self._lock(place, fcntl.F_WRLCK)
        try:
            yield
        finally:
            if is_ours:
                self._lock(place, fcntl.F_UNLCK)

    @contextmanager
    def hold_all(self) -> Iterator[None]:
        """Holds every lease as long as the block lasts, so that runs wait. Refused while one is asking."""
        if not self._lock(0, fcntl.F_WRLCK, WHOLE_FILE):
            raise BadInput(self._store, "a run is asking now; wait for it or stop it")
        try:
            yield
        finally:
            self._lock(0, fcntl.F_UNLCK, WHOLE_FILE)

    def _lock(self, place: int, kind: int, length: int = 1) -> bool:
        if self._file is None:
            self._file = self._path.open("ab+", buffering=0)
        try:
            if sys.platform == "linux":  # also between two runs of one process
                fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, struct.pack("@hhqqi4x", kind, 0, place, length, 0))
            else:
                command = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
                fcntl.lockf(self._file, command, length, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
