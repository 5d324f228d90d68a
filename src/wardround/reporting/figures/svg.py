"""Figures as inline SVG: pure functions from numbers to markup, coloured by the page's style sheet.

Positions are percentages of the width, so that one drawing fits a phone, a screen and a sheet of paper.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.reporting.numbers import number

HEIGHT = 22


@dataclass(frozen=True)
class Scale:
    """The range of values that a figure shows, as fractions."""

    low: float = 0.0
    high: float = 1.0
    marked: float | None = None  # a value with a line of its own: chance, or zero difference

    def at(self, value: float) -> str:
        """The position of a value in percent of the width, clipped to the range."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0.0), 1.0):.2f}%"

    @property
    def ticks(self) -> list[float]:
        return [self.low + step * (self.high - self.low) / 4 for step in range(5)]


def scale_around_zero(values: Iterable[float]) -> Scale:
    """A scale centred on zero that includes all values, rounded up to 20, 40, 60 ... points."""
    max_value = max((abs(value) for value in values), default=0.0)
    limit = 0.2
    while limit < max_value - 1e-9:
        limit += 0.2
    return Scale(-limit, limit, marked=0.0)


def interval(value: float, low: float | None, high: float | None, *, scale: Scale, title: str) -> Markup:
    """A value as a dot with its interval as a line."""
    return _figure(_grid(scale) + _interval(value, low, high, scale), title)


def interval_to_point(
    value: float, low: float | None, high: float | None, end: float, *, scale: Scale, title: str
) -> Markup:
    """A value with its interval, and a ring at the value that it is compared with."""
    drawn = Markup('<line class="reach" x1="{}" x2="{}" y1="11" y2="11"/>').format(scale.at(value), scale.at(end))
    drawn += Markup('<circle class="ring" cx="{}" cy="11" r="4.5"/>').format(scale.at(end))
    return _figure(_grid(scale) + drawn + _interval(value, low, high, scale), title)


def bar(share: float, title: str) -> Markup:
    """A share as a bar of the full width."""
    drawn = Markup('<rect class="place" x="0" width="{:.2f}%" y="5" height="12" rx="2"/>').format(100 * share)
    return _figure(_grid(Scale()) + drawn, title)


def rank_bar(first: int, last: int, count: int, title: str) -> Markup:
    """A bar from the first to the last rank of `count` ranks, each one step wide."""
    steps = Markup("").join(
        Markup('<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="{1}"/>').format(100 * step / count, HEIGHT)
        for step in range(count + 1)
    )
    bar = Markup('<rect class="place" x="{:.2f}%" width="{:.2f}%" y="6" height="10" rx="4"/>').format(
        100 * (first - 1) / count, 100 * (last - first + 1) / count
    )
    return _figure(steps + bar, title)


def rank_axis(count: int) -> Markup:
    """The numbers of the ranks, at most about ten."""
    step = -(-count // 10)
    ranks = [rank for rank in range(1, count + 1) if rank == 1 or rank % step == 0]
    return _axis((f"{100 * (rank - 0.5) / count:.2f}%", str(rank)) for rank in ranks)


def empty_track(scale: Scale, title: str) -> Markup:
    """The track of a missing value."""
    return _figure(_grid(scale), title)


def axis(scale: Scale) -> Markup:
    """The axis above the tracks of a table; around zero only the ends and the middle fit."""
    ticks = scale.ticks[::2] if scale.low < 0 else scale.ticks
    return _axis((scale.at(tick), number(100 * tick, 0)) for tick in ticks)


def stacked_bar(parts: Sequence[tuple[str, int]], title: str) -> Markup:
    """Counts as one stacked bar; each part has a class name."""
    total = sum(count for _, count in parts)
    drawn, start = Markup(""), 0
    for name, count in parts:
        if count:
            drawn += Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="5" height="12"/>').format(
                name, 100 * start / total, 100 * count / total
            )
        start += count
    return _figure(drawn, title)


def _axis(labels: Iterable[tuple[str, str]]) -> Markup:
    text = Markup('<text x="{}" y="15" text-anchor="middle">{}</text>')
    drawn = Markup("").join(text.format(place, label) for place, label in labels)
    return Markup('<svg class="axis" aria-hidden="true" width="100%" height="20">{}</svg>').format(drawn)


def _interval(value: float, low: float | None, high: float | None, scale: Scale) -> Markup:
    drawn = Markup("")
    if low is not None and high is not None:
        drawn += Markup('<line class="range" x1="{}" x2="{}" y1="11" y2="11"/>').format(scale.at(low), scale.at(high))
        for end in (low, high):
            drawn += Markup('<line class="range" x1="{0}" x2="{0}" y1="7" y2="15"/>').format(scale.at(end))
    return drawn + Markup('<circle class="dot" cx="{}" cy="11" r="4.5"/>').format(scale.at(value))


def _grid(scale: Scale) -> Markup:
    drawn = Markup("").join(
        Markup('<line class="grid" x1="{0}" x2="{0}" y1="0" y2="{1}"/>').format(scale.at(tick), HEIGHT)
        for tick in scale.ticks
    )
    if scale.marked is not None:
        drawn += Markup('<line class="marked" x1="{0}" x2="{0}" y1="0" y2="{1}"/>').format(
            scale.at(scale.marked), HEIGHT
        )
    return drawn


def _figure(drawn: Markup, title: str) -> Markup:
    return Markup('<svg class="figure" role="img" width="100%" height="{}"><title>{}</title>{}</svg>').format(
        HEIGHT, title, drawn
    )
