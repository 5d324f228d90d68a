"""Limits on log-ins: counted before a password is hashed, so that guesses cost neither memory nor time."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from wardround.core.errors import WardroundError
from wardround.desk.store import DeskStore

ATTEMPT_SECONDS = 900
MAX_FAILED_BY_NAME_AND_ADDRESS = 5  # a stranger elsewhere cannot lock a person out
MAX_FAILED_BY_ADDRESS = 40
MAX_HASHES, MAX_WAITING = 2, 8  # argon2 takes 64 MB for each password


class TooManyAttempts(WardroundError):
    """Too many log-ins, failed in a short time or at once."""


class LogInLimits:
    """Counts attempts to log in, and how many passwords are hashed at once."""

    def __init__(self, store: DeskStore) -> None:
        self._store = store
        self._hashing = threading.BoundedSemaphore(MAX_HASHES)
        self._places = threading.BoundedSemaphore(MAX_HASHES + MAX_WAITING)

    def count(self, name: str, address: str) -> None:
        """Counts an attempt as failed before its password is checked; raises TooManyAttempts at the limit."""
        limits = {
            _of_pair(name, address): MAX_FAILED_BY_NAME_AND_ADDRESS,
            f"from:{address}": MAX_FAILED_BY_ADDRESS,
        }
        moment = time.time()
        with self._store.transaction(durable=False):
            self._store.write("DELETE FROM attempts WHERE time < ?", moment - ATTEMPT_SECONDS)
            for who, limit in limits.items():
                if self._store.value("SELECT count(*) FROM attempts WHERE who = ?", who) >= limit:
                    raise TooManyAttempts(f"too many attempts: wait {ATTEMPT_SECONDS // 60} minutes")
            self._store.write_many("INSERT INTO attempts VALUES (?, ?)", [(who, moment) for who in limits])

    def forgive(self, name: str, address: str) -> None:
        """Forgets the attempts of a name from an address, and the last one of the address: the password was right."""
        pair, of_address = _of_pair(name, address), f"from:{address}"
        self._store.write("DELETE FROM attempts WHERE who = ?", pair)
        last = "SELECT max(rowid) FROM attempts WHERE who = ?"
        self._store.write(f"DELETE FROM attempts WHERE rowid = ({last})", of_address)

    @contextmanager
    def hashing(self) -> Iterator[None]:
        """A place to hash a password in. Few passwords wait for one, so that other pages always have threads."""
        if not self._places.acquire(blocking=False):
            raise TooManyAttempts("many people log in at this moment: try again in a few seconds")
        try:
            with self._hashing:
                yield
        finally:
            self._places.release()


def _of_pair(name: str, address: str) -> str:
    return f"name:{name.casefold()} from:{address}"
