"""Progress of a run: a bar in a notebook; a line elsewhere, rewritten on a terminal, printed now and then if not."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from wardround.running.caller import Tally

SECONDS_BETWEEN = {True: 0.2, False: 10.0}  # where the line can be rewritten, elsewhere
ShowBar = Callable[[int, int, str], None]  # answers, expected answers, line


@dataclass
class CandidateProgress:
    """One candidate's answers: planned, stored before this start, and new."""

    total: int
    stored: int
    tally: Tally
    new: int = 0

    @property
    def expected(self) -> int:
        """The expected number of answers; that of an agent is known only afterwards."""
        return max(self.total, self.stored + self.new)

    def seconds_left(self, seconds: float) -> float:
        return (self.expected - self.stored - self.new) * seconds / self.new if self.new else 0.0


class Progress:
    """The progress of all candidates."""

    def __init__(self, lanes: Sequence[CandidateProgress], quiet: bool = False) -> None:
        self.lanes, self._quiet = lanes, quiet
        self._started = time.monotonic()
        self._shown = self._started
        self._terminal = sys.stderr.isatty()
        self._show_bar = None if quiet else notebook_bar()

    def show(self, *, last: bool = False) -> None:
        """Shows the line if it is due or the last one."""
        now = time.monotonic()
        rewritten = self._terminal or self._show_bar is not None
        if self._quiet or (not last and now - self._shown < SECONDS_BETWEEN[rewritten]):
            return
        self._shown = now
        line = self.line(now - self._started)
        if self._show_bar is not None:
            self._show_bar(self.answers, self.expected, line)
        elif self._terminal:
            print(f"\r\x1b[2K{line}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    @property
    def answers(self) -> int:
        return sum(lane.stored + lane.new for lane in self.lanes)

    @property
    def expected(self) -> int:
        return sum(lane.expected for lane in self.lanes)

    def line(self, seconds: float) -> str:
        tallies = [lane.tally for lane in self.lanes]
        rate = sum(lane.new for lane in self.lanes) / seconds if seconds > 0 else 0.0
        tokens = sum(tally.tokens_in + tally.tokens_out for tally in tallies)
        money = sum(tally.money for tally in tallies)
        faults = sum(tally.faults for tally in tallies)
        parts = [f"{self.answers:,}/{self.expected:,} answers", f"{rate:,.1f}/s", f"{tokens:,} tokens"]
        if money:
            parts.append(f"{money:.2f} USD")
        parts.append(f"{faults:,} faults")
        if parsed := sum(tally.parsed for tally in tallies):
            parts.append(f"{100 * sum(tally.unparsed for tally in tallies) / parsed:.1f}% unparsed")
        if left := max(lane.seconds_left(seconds) for lane in self.lanes):
            parts.append(f"{_duration(left)} left")
        return " · ".join(parts)


def notebook_bar() -> ShowBar | None:
    """What shows a bar below the running cell of a notebook; None elsewhere."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython.display import HTML, display

    handle = display(HTML("<progress></progress>"), display_id=True)

    def show(answers: int, expected: int, line: str) -> None:
        bar = f'<progress value="{answers}" max="{expected}" style="width: 20em"></progress> {escape(line)}'
        handle.update(HTML(bar))

    return show


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
