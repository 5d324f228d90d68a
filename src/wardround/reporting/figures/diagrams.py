"""Reliability diagrams and risk-coverage curves as inline SVG, coloured by the page's style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.reporting.numbers import count, number, percent, short_count
from wardround.reporting.run_files import MeasureLine

LEFT, RIGHT, TOP, BOTTOM = 34.0, 292.0, 8.0, 168.0  # of the plot area
COUNT_HEIGHT = 44.0  # of the bars below it
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Bin:
    """The answers in a bin of confidence: mean confidence and accuracy."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float | None
    accuracy_high: float | None


def reliability_diagram(bins: Sequence[Bin], name: str) -> Markup:
    """Accuracy against confidence in bins, with the number of answers below; the diagonal is perfect calibration."""
    drawn = _frame("confidence", "accuracy", 1.0, below=COUNT_HEIGHT)
    drawn += _line("marked", 0.0, 0.0, 1.0, 1.0, 1.0)
    for bin in bins:
        if bin.accuracy_low is not None and bin.accuracy_high is not None:
            drawn += _line("range", bin.confidence, bin.accuracy_low, bin.confidence, bin.accuracy_high, 1.0)
        drawn += _dot(bin.confidence, bin.accuracy, 1.0)
    max_n, floor = max((bin.n for bin in bins), default=1), BOTTOM + COUNT_HEIGHT
    for bin in bins:
        x, width = _x(bin.low) + 1, _x(bin.high) - _x(bin.low) - 2
        height = max(1.0, (COUNT_HEIGHT - 14) * bin.n / max_n)
        drawn += Markup('<rect class="bin" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            x, floor - height, width, height
        )
        drawn += _text(x + width / 2, floor - height - 3, short_count(bin.n), "middle", "many")
    title = "; ".join(
        f"confidence {percent(bin.confidence)}, accuracy {percent(bin.accuracy)} of {count(bin.n)}" for bin in bins
    )
    return _drawing(drawn, f"{name}, accuracy by confidence: {title}", BOTTOM + COUNT_HEIGHT + 34)


def risk_diagram(curve: Sequence[tuple[float, float]], at_80: MeasureLine | None, max_risk: float, name: str) -> Markup:
    """Risk (share wrong among the answers given) against coverage, up to `max_risk`; `at_80` is accuracy@80."""
    drawn = _frame("coverage: share answered, most confident first", "share wrong", max_risk)
    points = " ".join(f"{_x(coverage):.1f},{_y(risk, max_risk):.1f}" for coverage, risk in curve)
    drawn += Markup('<polyline class="curve" points="{}"/>').format(points)
    title = f"{percent(curve[-1][1])} wrong if all are answered"
    if at_80 is not None and at_80.value is not None:
        risk = 1 - at_80.value
        if at_80.low is not None and at_80.high is not None:
            drawn += _line("range", 0.8, 1 - at_80.high, 0.8, 1 - at_80.low, max_risk)
        drawn += _dot(0.8, risk, max_risk)
        title += f", {percent(risk)} if the most confident 80% are"
    return _drawing(drawn, f"{name}, errors by coverage: {title}", BOTTOM + 34)


def _frame(x_title: str, y_title: str, max_y: float, below: float = 0.0) -> Markup:
    """Grid, ticks and titles of both axes, in percent; `below` is the space between plot and x axis."""
    drawn = Markup("")
    for tick in TICKS:
        drawn += _line("grid", tick, 0.0, tick, max_y, max_y)
        drawn += _line("grid", 0.0, tick * max_y, 1.0, tick * max_y, max_y)
        drawn += _text(_x(tick), BOTTOM + below + 13, number(100 * tick, 0), "middle")
        drawn += _text(LEFT - 5, _y(tick * max_y, max_y) + 3.5, number(100 * tick * max_y, 0), "end")
    drawn += _text((LEFT + RIGHT) / 2, BOTTOM + below + 28, x_title, "middle", "title")
    drawn += Markup(
        '<text class="title" text-anchor="middle" transform="translate(9 {:.1f}) rotate(-90)">{}</text>'
    ).format((TOP + BOTTOM) / 2, y_title)
    return drawn


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0)


def _y(share: float, max_y: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * min(max(share / max_y, 0.0), 1.0)


def _line(name: str, x1: float, y1: float, x2: float, y2: float, max_y: float) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        name, _x(x1), _y(y1, max_y), _x(x2), _y(y2, max_y)
    )


def _dot(x: float, y: float, max_y: float) -> Markup:
    return Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="4"/>').format(_x(x), _y(y, max_y))


def _text(x: float, y: float, text: str, anchor: str, name: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(name, x, y, anchor, text)


def _drawing(drawn: Markup, title: str, height: float) -> Markup:
    return Markup('<svg class="diagram" role="img" viewBox="0 0 300 {:.0f}"><title>{}</title>{}</svg>').format(
        height, title, drawn
    )
