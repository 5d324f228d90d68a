"""Reliability diagrams and risk-coverage curves as inline SVG, coloured by the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.reporting.numbers import count, number, percent, short_count

LEFT, RIGHT, TOP, BOTTOM = 34.0, 292.0, 8.0, 168.0  # the plot inside its drawing
COUNTS = 44.0  # height of the counts under it
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Bin:
    """The answers of a bin of confidence: how sure they were on average, and how often right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float | None
    accuracy_high: float | None


@dataclass(frozen=True)
class Kept:
    """Accuracy at a coverage, with its interval."""

    coverage: float
    accuracy: float
    low: float | None
    high: float | None


def reliability_diagram(bins: Sequence[Bin], name: str) -> Markup:
    """Accuracy over confidence, bin by bin, with the number of answers under each; on the diagonal is calibrated."""
    drawn = _frame("confidence", "accuracy", 1.0, under=COUNTS)
    drawn += _line("marked", 0.0, 0.0, 1.0, 1.0, 1.0)
    for each in bins:
        if each.accuracy_low is not None and each.accuracy_high is not None:
            drawn += _line("range", each.confidence, each.accuracy_low, each.confidence, each.accuracy_high, 1.0)
        drawn += _dot(each.confidence, each.accuracy, 1.0)
    most, floor = max((each.n for each in bins), default=1), BOTTOM + COUNTS
    for each in bins:
        x, width = _x(each.low) + 1, _x(each.high) - _x(each.low) - 2
        tall = max(1.0, (COUNTS - 14) * each.n / most)
        drawn += Markup('<rect class="bin" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            x, floor - tall, width, tall
        )
        drawn += _text(x + width / 2, floor - tall - 3, short_count(each.n), "middle", "many")
    told = "; ".join(
        f"sure {percent(each.confidence)}, right {percent(each.accuracy)} of {count(each.n)}" for each in bins
    )
    return _drawing(drawn, f"{name}, accuracy by confidence: {told}", BOTTOM + COUNTS + 34)


def risk_diagram(curve: Sequence[tuple[float, float]], kept: Kept | None, highest: float, name: str) -> Markup:
    """The share wrong among the answers kept, over coverage, up to `highest`."""
    drawn = _frame("coverage: share answered, surest first", "wrong among these", highest)
    points = " ".join(f"{_x(coverage):.1f},{_y(risk, highest):.1f}" for coverage, risk in curve)
    drawn += Markup('<polyline class="curve" points="{}"/>').format(points)
    told = f"{percent(curve[-1][1])} wrong if all are answered"
    if kept is not None:
        risk = 1 - kept.accuracy
        if kept.low is not None and kept.high is not None:
            drawn += _line("range", kept.coverage, 1 - kept.high, kept.coverage, 1 - kept.low, highest)
        drawn += _dot(kept.coverage, risk, highest)
        told += f", {percent(risk)} if the surest {number(100 * kept.coverage, 0)}% are"
    return _drawing(drawn, f"{name}, errors by coverage: {told}", BOTTOM + 34)


def _frame(x_title: str, y_title: str, highest: float, under: float = 0.0) -> Markup:
    """Grid, ticks and titles of both axes, in percent."""
    drawn = Markup("")
    for tick in TICKS:
        drawn += _line("grid", tick, 0.0, tick, highest, highest)
        drawn += _line("grid", 0.0, tick * highest, 1.0, tick * highest, highest)
        drawn += _text(_x(tick), BOTTOM + under + 13, number(100 * tick, 0), "middle")
        drawn += _text(LEFT - 5, _y(tick * highest, highest) + 3.5, number(100 * tick * highest, 0), "end")
    drawn += _text((LEFT + RIGHT) / 2, BOTTOM + under + 28, x_title, "middle", "title")
    drawn += Markup(
        '<text class="title" text-anchor="middle" transform="translate(9 {:.1f}) rotate(-90)">{}</text>'
    ).format((TOP + BOTTOM) / 2, y_title)
    return drawn


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0)


def _y(share: float, highest: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * min(max(share / highest, 0.0), 1.0)


def _line(name: str, x1: float, y1: float, x2: float, y2: float, highest: float) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        name, _x(x1), _y(y1, highest), _x(x2), _y(y2, highest)
    )


def _dot(x: float, y: float, highest: float) -> Markup:
    return Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="4"/>').format(_x(x), _y(y, highest))


def _text(x: float, y: float, text: str, anchor: str, name: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(name, x, y, anchor, text)


def _drawing(drawn: Markup, title: str, height: float) -> Markup:
    return Markup('<svg class="diagram" role="img" viewBox="0 0 300 {:.0f}"><title>{}</title>{}</svg>').format(
        height, title, drawn
    )
