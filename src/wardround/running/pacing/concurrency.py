"""Pace: the limit on concurrent calls, adapted to how often they fail."""

import asyncio
from collections import deque
from dataclasses import dataclass
from math import sqrt

START = 4
MIN_WINDOW = 16
MAX_PATIENCE = 32
MAX_IN_VAIN = 3
MAX_PAUSE = 1.0


@dataclass
class _SuspectedOverload:
    """Faults that may come from load: the limit and their share at first, and how often lowering did not help."""

    limit: int
    share: float
    in_vain: int = 0


class Pace:
    """Slots for concurrent calls. The limit is reconsidered after each window of calls.

    Without faults it doubles, later it grows by one. A share f of faults lowers it to (1 - f) of its value: a server
    that takes 8 calls and gets 16 refuses half, and then gets 8. Faults that are as frequent at half the limit do not
    come from load; their share then counts as normal.
    """

    def __init__(self, max_limit: int) -> None:
        self.max_limit = max_limit
        self.limit = min(START, max_limit)
        self.busy = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._calls = self._faults = 0
        self._doubling = True
        self._too_many = max_limit + 1  # the least limit at which faults were more than normal
        self._patience = 1  # clean windows before that limit is tried again, or gone beyond
        self._clean = 0
        self._normal = 0.0  # share of faults that does not depend on load
        self._suspect: _SuspectedOverload | None = None
        self._seconds = 0.1  # a typical call

    async def acquire(self) -> None:
        if self.busy < self.limit and not self._queue:
            self.busy += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        self.busy -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self.busy < self.limit:
            turn = self._queue.popleft()
            if not turn.done():
                self.busy += 1
                turn.set_result(None)

    @property
    def pause_seconds(self) -> float:
        """How long a slot stays closed after a fault: as long as a typical call, because refusals come at once."""
        return min(self._seconds, MAX_PAUSE)

    def succeeded(self, seconds: float) -> None:
        self._seconds += 0.1 * (seconds - self._seconds)
        self._count(fault=False)

    def faulted(self) -> None:
        self._count(fault=True)

    def narrow(self) -> None:
        """For a server that is down: one call at a time finds out when it is back."""
        self.limit = 1
        self._doubling = True
        self._calls = self._faults = 0

    def _count(self, *, fault: bool) -> None:
        if self.busy > self.limit:  # calls from before the limit was lowered say nothing about it
            return
        self._calls += 1
        self._faults += fault
        if self._calls >= max(MIN_WINDOW, 2 * self.limit):
            self._adjust(self._faults / self._calls)
            self._calls = self._faults = 0
            self._admit()

    def _adjust(self, share: float) -> None:
        """Lowers the limit while that helps, restores it if it does not, raises it if faults are normal."""
        chance = sqrt(self._normal * (1 - self._normal) / self._calls)
        if share <= self._normal + 2.5 * chance + 0.02:
            self._normal += 0.1 * (share - self._normal)
            self._suspect = None
            self._raise()
            return
        if self._suspect is None or share <= 0.6 * self._suspect.share:
            self._suspect = _SuspectedOverload(self.limit, share)
        else:
            self._suspect.in_vain += 1
        half = max(1, self._suspect.limit // 2)
        if self._suspect.in_vain < MAX_IN_VAIN:
            self._lower(share)
        elif self.limit > half:
            self.limit = half
        else:
            self.limit, self._normal, self._suspect = self._suspect.limit, share, None
            self._too_many, self._patience = self.max_limit + 1, 1

    def _lower(self, share: float) -> None:
        self._doubling = False
        self._clean = 0
        if self.limit < self._too_many:
            self._too_many = self.limit
        else:  # too many again: the next try waits longer
            self._patience = min(2 * self._patience, MAX_PATIENCE)
        self.limit = max(1, min(self.limit - 1, round(self.limit * (1 - share))))

    def _raise(self) -> None:
        if self._doubling:
            self.limit = min(2 * self.limit, self.max_limit)
            return
        self._clean += 1
        needed = self._patience if self.limit + 1 >= self._too_many else 1
        if self._clean < needed or self.limit == self.max_limit:
            return
        self._clean = 0
        self.limit += 1
        if self.limit > self._too_many:  # it is no longer too many
            self._too_many, self._patience = self.limit, max(1, self._patience // 2)
