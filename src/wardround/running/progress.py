"""Progress: one line that says how far a run is; plain text when nobody watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.running.caller import Tally

SHOWN_EVERY = {True: 0.2, False: 10.0}  # on a terminal, or not


@dataclass
class Lane:
    """One candidate's way: how many answers it has to give, how many it had, and how many it has given now."""

    total: int
    stored: int
    tally: Tally
    done: int = 0

    @property
    def expected(self) -> int:
        """How many answers it will be, as far as is known: nobody knows beforehand how often an agent is asked."""
        return max(self.total, self.stored + self.done)

    def seconds_left(self, seconds: float) -> float:
        return (self.expected - self.stored - self.done) * seconds / self.done if self.done else 0.0


class Progress:
    """Counts what is done against what is to do."""

    def __init__(self, lanes: Sequence[Lane], quiet: bool = False) -> None:
        self.lanes, self._quiet = lanes, quiet
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
        tallies = [lane.tally for lane in self.lanes]
        done = sum(lane.stored + lane.done for lane in self.lanes)
        total = sum(lane.expected for lane in self.lanes)
        rate = sum(lane.done for lane in self.lanes) / seconds if seconds > 0 else 0.0
        tokens = sum(tally.tokens_in + tally.tokens_out for tally in tallies)
        money = sum(tally.money for tally in tallies)
        faults = sum(tally.faults for tally in tallies)
        parts = [f"{done:,}/{total:,} answers", f"{rate:,.1f}/s", f"{tokens:,} tokens"]
        if money:
            parts.append(f"{money:.2f} USD")
        parts.append(f"{faults:,} faults")
        if self.read:
            parts.append(f"{100 * self.unread / self.read:.1f}% unparsed")
        if left := max(lane.seconds_left(seconds) for lane in self.lanes):
            parts.append(f"{_duration(left)} left")
        return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
