"""Progress: one line that says how far a run is; plain text when nobody watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from wardround.running.caller import Tally

SHOWN_EVERY = {True: 0.2, False: 10.0}  # on a terminal, or not


class Progress:
    """Counts what is done against what is to do."""

    def __init__(self, total: int, stored: int, tallies: Sequence[Tally], quiet: bool = False) -> None:
        self._total, self._stored, self._tallies, self._quiet = total, stored, tallies, quiet
        self._started = time.monotonic()
        self._shown = self._started
        self._terminal = sys.stderr.isatty()
        self.read = self.unread = 0

    def show(self, *, last: bool = False) -> None:
        """Shows the line if it is time to, or if it is the last one."""
        now = time.monotonic()
        if self._quiet or (not last and now - self._shown < SHOWN_EVERY[self._terminal]):
            return
        self._shown = now
        line = self.line(now - self._started)
        if self._terminal:
            print(f"\r\x1b[2K{line}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        new = sum(tally.answers for tally in self._tallies)
        done = self._stored + new
        rate = new / seconds if seconds > 0 else 0.0
        tokens = sum(tally.tokens_in + tally.tokens_out for tally in self._tallies)
        money = sum(tally.money for tally in self._tallies)
        faults = sum(tally.faults for tally in self._tallies)
        parts = [f"{done:,}/{self._total:,} answers", f"{rate:,.1f}/s", f"{tokens:,} tokens"]
        if money:
            parts.append(f"{money:.2f} USD")
        parts.append(f"{faults:,} faults")
        if self.read:
            parts.append(f"{100 * self.unread / self.read:.1f}% unparsed")
        if rate and done < self._total:
            parts.append(f"{_duration((self._total - done) / rate)} left")
        return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
