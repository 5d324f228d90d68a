"""The time in which a candidate has at least one call under way, however many there are at once."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class BusyTime:
    """Adds up the time between the start of a first call and the end of the last one that overlaps it."""

    seconds: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _calls: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)

    @contextmanager
    def during_call(self) -> Iterator[None]:
        if self._calls == 0:
            self._since = self.clock()
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if self._calls == 0:
                self.seconds += self.clock() - self._since
