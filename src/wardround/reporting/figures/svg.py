"""Figures as inline SVG: pure functions from numbers to markup, coloured by the page's style sheet.

Positions are percentages of the width, so that one drawing fits a phone, a screen and a sheet of paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.reporting.numbers import number

HEIGHT = 22


@dataclass(frozen=True)
class Scale:
    """The stretch of values that a figure shows, as fractions."""

    low: float = 0.0
    high: float = 1.0
    marked: float | None = None  # a value worth a line of its own: chance, or no difference

    def at(self, value: float) -> str:
        """Where a value lies, in percent of the width; what is outside lies on the edge."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0.0), 1.0):.2f}%"

    @property
    def ticks(self) -> list[float]:
        return [self.low + step * (self.high - self.low) / 4 for step in range(5)]


def around_zero(values: Iterable[float]) -> Scale:
    """A scale with zero in the middle that holds all the values, rounded up to 20, 40, 60 ... points."""
    reach = max((abs(value) for value in values), default=0.0)
    step = 0.2
    while step < reach - 1e-9:
        step += 0.2
    return Scale(-step, step, marked=0.0)


def interval(value: float, low: float | None, high: float | None, *, scale: Scale, title: str) -> Markup:
    """A dot for the value and a line for its interval."""
    return _figure(_grid(scale) + _interval(value, low, high, scale), title)


def reaching(value: float, low: float | None, high: float | None, end: float, *, scale: Scale, title: str) -> Markup:
    """A dot with its interval, and a ring at the figure that it is held against."""
    drawn = Markup('<line class="reach" x1="{}" x2="{}" y1="11" y2="11"/>').format(scale.at(value), scale.at(end))
    drawn += Markup('<circle class="ring" cx="{}" cy="11" r="4.5"/>').format(scale.at(end))
    return _figure(_grid(scale) + drawn + _interval(value, low, high, scale), title)


def bar(share: float, title: str) -> Markup:
    """A share as a bar on the whole width."""
    drawn = Markup('<rect class="place" x="0" width="{:.2f}%" y="5" height="12" rx="2"/>').format(100 * share)
    return _figure(_grid(Scale()) + drawn, title)


def places(first: int, last: int, many: int, title: str) -> Markup:
    """A bar from the first to the last of so many places, each a step wide."""
    steps = Markup("").join(
        Markup('<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="{1}"/>').format(100 * step / many, HEIGHT)
        for step in range(many + 1)
    )
    bar = Markup('<rect class="place" x="{:.2f}%" width="{:.2f}%" y="6" height="10" rx="4"/>').format(
        100 * (first - 1) / many, 100 * (last - first + 1) / many
    )
    return _figure(steps + bar, title)


def places_axis(many: int) -> Markup:
    """The numbers of the places, those that have room."""
    every = -(-many // 10)
    drawn = Markup("").join(
        Markup('<text x="{:.2f}%" y="15" text-anchor="middle">{}</text>').format(100 * (place - 0.5) / many, place)
        for place in range(1, many + 1)
        if place == 1 or place % every == 0
    )
    return Markup('<svg class="axis" aria-hidden="true" width="100%" height="20">{}</svg>').format(drawn)


def nothing(scale: Scale, title: str) -> Markup:
    """The empty track of a value that does not exist."""
    return _figure(_grid(scale), title)


def axis(scale: Scale) -> Markup:
    """The numbers under which the tracks of a table lie; around zero only the ends and the middle have room."""
    drawn = Markup("").join(
        Markup('<text x="{}" y="15" text-anchor="middle">{}</text>').format(scale.at(tick), number(100 * tick, 0))
        for tick in (scale.ticks[::2] if scale.low < 0 else scale.ticks)
    )
    return Markup('<svg class="axis" aria-hidden="true" width="100%" height="20">{}</svg>').format(drawn)


def shares(parts: Sequence[tuple[str, int]], title: str) -> Markup:
    """Counts as one bar, each part with its class name, in the given order."""
    total = sum(count for _, count in parts)
    drawn, start = Markup(""), 0
    for name, count in parts:
        if count:
            drawn += Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="5" height="12"/>').format(
                name, 100 * start / total, 100 * count / total
            )
        start += count
    return _figure(drawn, title)


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
