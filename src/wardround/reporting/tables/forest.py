"""Forest tables: one row per candidate with its dot, its interval, its unparsed rate and its n."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from wardround.reporting.figures import svg
from wardround.reporting.labels import SIGNED, measure_title
from wardround.reporting.numbers import PLAIN, count, percent, shown, span
from wardround.reporting.run_files import Measure, RunFolder


@dataclass(frozen=True)
class Row:
    """`note` stands where a value or its interval cannot."""

    label: str
    meaning: str
    line: Measure | None
    value: str | None
    interval: str | None
    note: str | None
    track: Markup
    cases: str | None  # the address of the cases behind it
    beside: str | None = None  # the value of a second measure, printed next to it


@dataclass(frozen=True)
class Forest:
    title: str
    note: str
    measure: str
    axis: Markup
    rows: list[Row]
    beside: str | None = None  # the title of the second measure


def scale_of(measure: str, chance: float | None = None) -> svg.Scale:
    if measure in SIGNED:
        return svg.Scale(-1.0, 1.0, marked=0.0)
    return svg.Scale(marked=chance)


def said(line: Measure | None) -> tuple[str | None, str | None, str | None]:
    """Value, interval and note of a line as a cell prints them."""
    if line is None:
        return None, None, "not asked"
    if line.n == 0:
        return None, None, "no cases"
    if line.value is None:
        return None, None, "no value"
    interval = span(line.measure, line.low, line.high)
    return shown(line.measure, line.value), interval, None if interval else "no interval"


def track(label: str, line: Measure | None, scale: svg.Scale) -> Markup:
    """A figure drawn on its scale; its title says everything in words."""
    value, interval, note = said(line)
    if line is None or line.value is None or value is None:
        return svg.nothing(scale, f"{label}: {note}")
    if line.measure.split("@")[0] in PLAIN:
        return Markup("")
    title = (
        f"{label}: {value} ({interval or note}); unparsed {percent(line.unparsed)}; "
        f"n {count(line.n)}, clusters {count(line.clusters)}"
    )
    return svg.interval(line.value, line.low, line.high, scale=scale, title=title)


def forest(
    run: RunFolder,
    measure: str,
    rows: Iterable[tuple[str, str, Measure | None]],
    *,
    note: str = "",
    chance: float | None = None,
    beside: tuple[str, Callable[[Measure], float | None]] | None = None,
) -> Forest:
    """A table of (label, meaning, line); `beside` names a second measure and finds it for a line."""
    scale = scale_of(measure, chance)
    built = [
        Row(
            label,
            meaning,
            line,
            *said(line),
            track(label, line, scale),
            run.behind(line),
            percent(beside[1](line)) if beside is not None and line is not None else None,
        )
        for label, meaning, line in rows
    ]
    drawn = svg.axis(scale) if measure.split("@")[0] not in PLAIN else Markup("")
    return Forest(measure_title(measure), note, measure_title(measure), drawn, built, beside[0] if beside else None)
