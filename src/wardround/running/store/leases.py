"""Leases: which Asks are under way, for all runs that share an answer store."""

from __future__ import annotations

import asyncio
import fcntl
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from wardround.core.errors import WardroundError

SECONDS_BETWEEN_LOOKS = 0.2
WHOLE_FILE = 0  # as the length of a lock


class Lease:
    """One Ask under way, as long as the block lasts. Each call has one, and a generator would take twice as long."""

    def __init__(self, leases: Leases, place: int, is_stored: Callable[[], bool], max_wait: float) -> None:
        self._leases, self._place, self._is_stored, self._max_wait = leases, place, is_stored, max_wait
        self._is_ours = False

    async def __aenter__(self) -> None:
        self._is_ours = self._leases.lock(self._place)
        if self._is_ours:
            return
        loop = asyncio.get_running_loop()
        expires = loop.time() + self._max_wait
        while not self._is_ours and loop.time() < expires and not self._is_stored():
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            self._is_ours = self._leases.lock(self._place)

    async def __aexit__(self, *_: object) -> None:
        if self._is_ours:
            self._leases.unlock(self._place)


class Leases(ABC):
    """Locks that end with the process that holds them, one an Ask."""

    def hold(self, ask: bytes, turn: int, is_stored: Callable[[], bool], max_wait: float) -> Lease:
        """Holds the lease of an Ask. While another run has it, waits until its answers are stored or it has expired."""
        return Lease(self, (int.from_bytes(ask[:7], "big") + turn) % 2**56, is_stored, max_wait)

    @contextmanager
    def hold_all(self) -> Iterator[None]:
        """Holds every lease as long as the block lasts, so that runs wait. Refused while one is asking."""
        if not self.lock_all():
            raise WardroundError(f"{self.store_name}: a run is asking now; wait for it or stop it")
        try:
            yield
        finally:
            self.unlock_all()

    store_name: str

    @abstractmethod
    def lock(self, place: int) -> bool:
        """Whether the lease of one Ask is ours now; does not wait."""

    @abstractmethod
    def unlock(self, place: int) -> None: ...

    @abstractmethod
    def lock_all(self) -> bool: ...

    @abstractmethod
    def unlock_all(self) -> None: ...


class FileLeases(Leases):
    """Locks on single bytes of a file beside the store. The system ends them with their process."""

    def __init__(self, store: Path) -> None:
        self.store_name = str(store)
        self._path = store.with_name(f"{store.name}-leases")
        self._file: BinaryIO | None = None  # made with the first lease: a store that is only read needs none

    def lock(self, place: int) -> bool:
        return self._set(place, fcntl.F_WRLCK)

    def unlock(self, place: int) -> None:
        self._set(place, fcntl.F_UNLCK)

    def lock_all(self) -> bool:
        return self._set(0, fcntl.F_WRLCK, WHOLE_FILE)

    def unlock_all(self) -> None:
        self._set(0, fcntl.F_UNLCK, WHOLE_FILE)

    def _set(self, place: int, kind: int, length: int = 1) -> bool:
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
