"""FigureCell: a line of measures.csv as the tables of a report print it."""

from dataclasses import dataclass

from markupsafe import Markup

from wardround.measuring.engine.intervals import UPPER_BOUND
from wardround.reporting.absence import NO_INTERVAL, NOT_ASKED, NOT_MEASURED
from wardround.reporting.figures import svg
from wardround.reporting.labels import is_signed
from wardround.reporting.numbers import count, format_interval, format_value, is_percentage, percent
from wardround.reporting.run_files import MeasureLine


@dataclass(frozen=True)
class FigureCell:
    """`note` says why a value or its interval is missing."""

    line: MeasureLine | None
    value: str | None = None
    interval: str | None = None
    note: str | None = None
    track: str = ""  # a drawing
    cases: str | None = None  # the address of the cases behind it


def format_line(line: MeasureLine | None, missing: str | None = None) -> FigureCell:
    """`missing` is the reason if there is no value; by default it is whether the line counts any answers."""
    if line is None or line.value is None:
        return FigureCell(line, note=missing or (NOT_MEASURED if line is not None and line.n else NOT_ASKED))
    interval = format_interval(line.measure, line.low, line.high)
    if line.high is not None and (line.method or "").endswith(UPPER_BOUND):
        interval = f"none shown up to {format_value(line.measure, line.high)}"
    return FigureCell(line, format_value(line.measure, line.value), interval, None if interval else NO_INTERVAL)


def measure_scale(measure: str, chance: float | None = None) -> svg.Scale:
    return svg.Scale(-1.0, 1.0, marked=0.0) if is_signed(measure) else svg.Scale(marked=chance)


def draw_track(label: str, cell: FigureCell, scale: svg.Scale) -> Markup:
    """A value with its interval on a scale; the title repeats it in words."""
    line = cell.line
    if line is None or line.value is None or cell.value is None:
        return svg.empty_track(scale, f"{label}: {cell.note}")
    if not is_percentage(line.measure):
        return Markup("")
    refused = f"refused {percent(line.refused)}; " if line.refused else ""
    title = (
        f"{label}: {cell.value} ({cell.interval or cell.note}); unparsed {percent(line.unparsed)}; {refused}"
        f"n {count(line.n)}, clusters {count(line.clusters)}"
    )
    return svg.interval(line.value, line.low, line.high, scale=scale, title=title)
