"""A table as a figure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from wardround.reporting.figures.candidates_axis import candidates_axis
from wardround.reporting.figures.figure_files import Mark
from wardround.reporting.figures.radar import radar_charts
from wardround.reporting.tables.table import PUBLISHED, Table, TableRow

if TYPE_CHECKING:
    from wardround.reporting.figures.figure_files import Chart

ROW = 22  # height in points
LIGHT_TO_MID = ["#f4f8fc", "#7fb2d9"]  # dark numbers stay readable on all of it
WORSE_TO_BETTER = ["#e8896b", "#ffffff", "#8cc5a2"]
PANELS_PER_ROW = 3
SOURCES = ("run", PUBLISHED)
GREY = "#b4bac2"  # of published figures
COLOURS = [  # of the run's rows; the eleventh begins again with another shape
    *("#2b6cb0", "#dd6b20", "#2f855a", "#b83232", "#6b46c1", "#8c5a3c", "#d53f8c", "#4a5568", "#b7950b", "#0b9fae"),
]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")


def figure(
    table: Table, mark: Mark, *, x: str, y: str, leave_out: Collection[str] = (), colours: Sequence[str] = ()
) -> Chart | None:
    """A chart of the table with columns along x and rows as series, or as `mark` says; None if it has no values.

    Published rows are grey dashed lines or points of another shape. `panels` draws lines over the groups of columns,
    one panel for each heading within a group; `heatmaps` draws changes, one heatmap for each group. `stacked` draws
    shares of a whole, in `colours`, one for each column. `candidates` puts rows along x, coloured by their group;
    `radar` draws a chart for each heading within the groups, with a spoke for each row, or the reverse; None if there
    are fewer than three of both.
    """
    points = _points(table, {*leave_out, "Unparsed", "Refused"})
    if not points:
        return None
    if mark == "radar":
        return radar_charts(points, table.title, PANELS_PER_ROW)
    if mark in ("panels", "heatmaps"):
        return _small_multiples(table, points, mark, x, y)
    columns = list(dict.fromkeys(point["column"] for point in points))
    rows = list(dict.fromkeys(point["row"] for point in points))
    base = _base_chart(points, table.title)
    column = alt.X("column:N", sort=columns, title=x, axis=alt.Axis(labelAngle=0))
    row = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=300))
    if mark == "candidates":
        return candidates_axis(base, points, x, y)
    if mark == "line":
        return _lines(base, column, points, y)
    if mark == "dots":
        return _dots(base, row, columns, y, has_published=any(point["source"] == PUBLISHED for point in points))
    if mark == "stacked":
        scale = alt.Scale(domain=columns, range=list(colours)) if colours else alt.Undefined
        colour = alt.Color("column:N", sort=columns, title=x, scale=scale)
        width = alt.X("value:Q", title=y, stack="zero", scale=alt.Scale(domain=[0, points[0]["whole"]], clamp=True))
        bars = base.mark_bar().encode(width, row, colour, alt.Order("place:Q"))
        stacked: alt.Chart = bars.properties(width=420, height=alt.Step(ROW))
        return stacked
    return _squares(base, column, row, alt.Color("value:Q", title=y, scale=alt.Scale(range=LIGHT_TO_MID)), 56)


def _base_chart(points: list[dict[str, Any]], title: str) -> alt.Chart:
    data = alt.Data(values=points)
    return alt.Chart(data, title=alt.Title(title, anchor="start"))


def _squares(base: alt.Chart, column: alt.X, row: alt.Y, shade: alt.Color, width: int) -> alt.LayerChart:
    squares = base.mark_rect().encode(column, row, shade)
    numbers = base.mark_text(fontSize=9).encode(column, row, alt.Text("printed:N"))
    chart: alt.LayerChart = (squares + numbers).properties(width=alt.Step(width), height=alt.Step(ROW))
    return chart


def _small_multiples(table: Table, points: list[dict[str, Any]], mark: Mark, x: str, y: str) -> alt.ConcatChart:
    """One chart for each heading, its groups along x (`panels`); or one for each group (`heatmaps`)."""
    panel_key, x_key = ("heading", "over") if mark == "panels" else ("over", "heading")
    rows = list(dict.fromkeys(point["row"] for point in points))
    max_value = max(abs(point["value"]) for point in points) or 1.0
    ends = [point[end] for point in points for end in ("value", "low", "high") if point[end] is not None]
    charts = []
    for name in dict.fromkeys(point[panel_key] for point in points):
        own = [point for point in points if point[panel_key] == name]
        base = _base_chart(own, name)
        order = list(dict.fromkeys(point[x_key] for point in own))
        if mark == "panels":
            column = alt.X(f"{x_key}:N", sort=order, title=x, axis=alt.Axis(labelAngle=0))
            charts.append(_lines(base, column, points, y, (min(ends), max(ends))))
            continue
        column = alt.X(f"{x_key}:N", sort=order, title=x, axis=alt.Axis(labelAngle=-40, labelLimit=200))
        row = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=300))
        scale = alt.Scale(domain=[-max_value, 0, max_value], range=WORSE_TO_BETTER, interpolate="rgb")
        charts.append(_squares(base, column, row, alt.Color("value:Q", title=y, scale=scale), 34))
    columns = (2 if len(charts) == 4 else PANELS_PER_ROW) if mark == "panels" else 1
    return alt.concat(*charts, columns=columns, title=alt.Title(table.title, anchor="start"))


def _lines(
    base: alt.Chart, column: alt.X, points: list[dict[str, Any]], y: str, ends: tuple[float, float] | None = None
) -> alt.LayerChart:
    """A line for each row: the run's in a colour and a shape of their own, all published ones in one grey.

    `ends` are those of the y axis, if panels share it.
    """
    runs, papers = (
        list(dict.fromkeys(point["row"] for point in points if point["source"] == source)) for source in SOURCES
    )
    series = [*runs, *([PUBLISHED] if papers else [])]
    places = range(len(runs))
    colours = [COLOURS[place % len(COLOURS)] for place in places] + [GREY] * bool(papers)
    shapes = [SHAPES[place // len(COLOURS) % len(SHAPES)] for place in places] + ["circle"] * bool(papers)
    legend = alt.Legend(labelLimit=300, symbolLimit=0, symbolOpacity=1)
    colour = alt.Color("series:N", scale=alt.Scale(domain=series, range=colours), title=None, legend=legend)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=shapes), title=None, legend=legend)
    scale = alt.Scale(zero=False) if ends is None else alt.Scale(domain=list(ends), nice=True, zero=False)
    height = alt.Y("value:Q", title=y, scale=scale)
    layers = []
    if papers:
        published = base.transform_filter(f"datum.source == '{PUBLISHED}'")
        dashed = published.mark_line(strokeDash=[4, 3], strokeWidth=1, opacity=0.7)
        layers.append(dashed.encode(column, height, colour, alt.Detail("row:N")))
    own = base.transform_filter("datum.source == 'run'")
    layers.append(own.mark_rule(opacity=0.6).encode(column, alt.Y("low:Q", title=y), alt.Y2("high:Q"), colour))
    layers.append(own.mark_line(strokeWidth=2.2).encode(column, height, colour))
    layers.append(own.mark_point(filled=True, size=50, opacity=1).encode(column, height, colour, shape))
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(width=alt.Step(48), height=260)
    return chart


def _dots(base: alt.Chart, row: alt.Y, columns: list[str], y: str, *, has_published: bool) -> alt.LayerChart:
    source = alt.Shape("source:N", title=None, legend=alt.Legend() if has_published else None)
    colour = alt.Color("column:N", sort=columns, title=None)
    offset = alt.YOffset("column:N", sort=columns)
    width = alt.X("value:Q", title=y, scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=50).encode(width, row, colour, offset, source)
    rules = base.mark_rule().encode(alt.X("low:Q", title=y), alt.X2("high:Q"), row, colour, offset)
    step = alt.Step(14, **{"for": "offset"})
    chart: alt.LayerChart = (rules + dots).properties(width=420, height=step)
    return chart


def _points(table: Table, leave_out: Collection[str]) -> list[dict[str, Any]]:
    points = []
    for row in (row for row in table.rows if not row.is_average):
        for index, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True)):
            if column.heading in leave_out or cell.value is None:
                continue
            scale = 100 if column.unit == "percent" else 1
            ends = {
                name: None if end is None else scale * end for name, end in (("low", cell.low), ("high", cell.high))
            }
            points.append(
                {
                    "row": _series_name(table, row),
                    "column": f"{column.over} {column.heading}".strip(),
                    "over": column.over,
                    "heading": column.heading,
                    "place": index,
                    "value": scale * cell.value,
                    "printed": column.format(cell.value),
                    "source": PUBLISHED if row.published else "run",
                    "series": PUBLISHED if row.published else _series_name(table, row),
                    "whole": scale,
                    "group": row.group,
                    **ends,
                }
            )
    return points


def _series_name(table: Table, row: TableRow) -> str:
    """A row's first label, and the others with their headings: `model, reasoning on`."""
    first, *others = row.printed_labels
    parts = [f"{key.lower()} {label}" for key, label in zip(table.labels[1:], others, strict=True) if label]
    return ", ".join([first, *parts])
