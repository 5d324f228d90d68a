"""Progress of a run and of its steps: a bar in a notebook; a line elsewhere, rewritten on a terminal, else a log."""

import os
import shutil
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

from wardround.running.caller import Tally

PROGRESS_FILE = "progress.json"  # of a run folder: what `wardround view` shows of a run under way
SECONDS_BETWEEN_FILES = 1.0
SECONDS_BETWEEN = {True: 0.2, False: 10.0}  # where the line can be rewritten, elsewhere
SECONDS_OF_A_LONG_STEP = 2.0  # shorter steps show nothing
ShowBar = Callable[[int, int, str], None]  # done, total, line
T = TypeVar("T")


class Display:
    """Where progress is shown: a notebook's bar, the last line of a terminal, or lines of a log."""

    def __init__(self, quiet: bool, delay: float = 0.0) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._in_notebook = in_notebook()
        self._bar: ShowBar | None = None
        self._started = time.monotonic()
        self._due = self._started + max(delay, SECONDS_BETWEEN[self._terminal or self._in_notebook])
        self._is_shown = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def is_due(self, *, last: bool = False) -> bool:
        """Whether a line is to be shown now."""
        return not self._quiet and (last or time.monotonic() >= self._due)

    @property
    def is_shown(self) -> bool:
        """Whether any line was shown."""
        return self._is_shown

    def show(self, done: int, total: int, line: str, *, last: bool = False) -> None:
        self._is_shown = True
        self._due = time.monotonic() + SECONDS_BETWEEN[self._terminal or self._in_notebook]
        line = "".join(character if character.isprintable() else " " for character in line)
        if self._in_notebook:
            self._bar = self._bar or notebook_bar()
            self._bar(done, total, line)
        elif self._terminal:
            line = cut_to_width(line, columns() - 1)
            print(f"\r\x1b[2K{line}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


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
        self.lanes = lanes
        self._display = Display(quiet)

    def show(self, *, last: bool = False) -> None:
        """Shows the line if it is due or the last one."""
        if self._display.is_due(last=last):
            self._display.show(self.answers, self.expected, self.line(self._display.seconds), last=last)

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """The figures of the line and those of each candidate."""
        seconds = self._display.seconds
        tallies = [lane.tally for lane in self.lanes]
        return {
            "answers": self.answers,
            "expected": self.expected,
            "per_second": sum(lane.new for lane in self.lanes) / seconds if seconds > 0 else 0.0,
            "seconds_left": max((lane.seconds_left(seconds) for lane in self.lanes), default=0.0),
            "cost": sum(tally.money for tally in tallies),
            "faults": sum(tally.faults for tally in tallies),
            "parsed": sum(tally.parsed for tally in tallies),
            "unparsed": sum(tally.unparsed for tally in tallies),
            "last_fault": max(tallies, key=lambda tally: tally.faults).last_fault if tallies else "",
            "candidates": [
                {
                    "name": name,
                    "answers": lane.stored + lane.new,
                    "expected": lane.expected,
                    "faults": lane.tally.faults,
                    "cost": lane.tally.money,
                }
                for name, lane in zip(names, self.lanes, strict=True)
            ],
        }

    @property
    def answers(self) -> int:
        return sum(lane.stored + lane.new for lane in self.lanes)

    @property
    def expected(self) -> int:
        return sum(lane.expected for lane in self.lanes)

    def line(self, seconds: float) -> str:
        """What matters most comes first, because a narrow terminal cuts the rest."""
        tallies = [lane.tally for lane in self.lanes]
        rate = sum(lane.new for lane in self.lanes) / seconds if seconds > 0 else 0.0
        tokens = sum(tally.tokens_in + tally.tokens_out for tally in tallies)
        money = sum(tally.money for tally in tallies)
        parts = [f"{self.answers:,}/{self.expected:,} answers", format_faults(tallies)]
        if left := max(lane.seconds_left(seconds) for lane in self.lanes):
            parts.append(f"{format_duration(left)} left")
        if parsed := sum(tally.parsed for tally in tallies):
            parts.append(f"{100 * sum(tally.unparsed for tally in tallies) / parsed:.1f}% unparsed")
        parts.append(f"{rate:,.1f}/s")
        if money:
            parts.append(f"{money:.2f} USD")
        parts.append(f"{tokens:,} tokens")
        if last_fault := max(tallies, key=lambda tally: tally.faults).last_fault:
            parts.append(f"last fault: {last_fault}")
        return " · ".join(parts)


class StepProgress:
    """Watches the long steps after a run, such as marking; a step that ends soon shows nothing."""

    def __init__(self, quiet: bool = True) -> None:
        self._quiet = quiet

    def watch(
        self, name: str, items: Iterable[T], total: int, size: Callable[[T], int] = lambda item: 1
    ) -> Iterator[T]:
        """The items as they are; `size` is what an item counts of the total."""
        display, done = Display(self._quiet, SECONDS_OF_A_LONG_STEP), 0
        for item in items:
            yield item
            done += size(item)
            if done < total and display.is_due():
                display.show(done, total, _step_line(name, done, total, display.seconds))
        if display.is_shown:
            display.show(total, total, f"{name} {total:,}/{total:,}", last=True)


NO_PROGRESS = StepProgress(quiet=True)


def _step_line(name: str, done: int, total: int, seconds: float) -> str:
    left = f" · {format_duration((total - done) * seconds / done)} left" if 0 < done < total else ""
    return f"{name} {done:,}/{total:,}{left}"


def format_faults(tallies: Sequence[Tally]) -> str:
    """The number of faults, and the commonest kind with its number."""
    kinds = sum((tally.fault_kinds for tally in tallies), Counter[str]())
    faults = sum(tally.faults for tally in tallies)
    number = f"{faults:,} fault{'' if faults == 1 else 's'}"
    if not kinds:
        return number
    ((kind, times),) = kinds.most_common(1)
    return f"{number} ({times:,} × {kind})"


def columns() -> int:
    """The width of the terminal now."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # not a terminal, or closed
        width = 0
    return width or shutil.get_terminal_size().columns


def cut_to_width(line: str, width: int) -> str:
    """The line in so many columns, with an ellipsis if it was cut; wide characters take two."""
    if sum(map(_columns_of, line)) <= width:
        return line
    room, kept = width - 1, ""
    for character in line:
        room -= _columns_of(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…" if width > 0 else ""


def _columns_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def in_notebook() -> bool:
    """Whether the kernel of a notebook runs this code; a library that merely imports ipykernel does not make one."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def notebook_bar() -> ShowBar:
    """What shows a bar below the running cell of a notebook."""
    from IPython.display import HTML, display

    handle = display(HTML("<progress></progress>"), display_id=True)

    def show(done: int, total: int, line: str) -> None:
        bar = f'<progress value="{done}" max="{total}" style="width: 20em"></progress> {escape(line)}'
        handle.update(HTML(bar))

    return show


def format_duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
