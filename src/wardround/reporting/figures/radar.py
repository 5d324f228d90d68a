"""Radar charts: one for each heading within the groups of columns, a spoke for each candidate, a line for each group.

They are MedQ-Deg's Figure 7. Values at neighbouring spokes have no order, so that the area means nothing: the panels
of lines say the same and are easier to read.
"""

import math
from typing import Any, Literal

import altair as alt

FEWEST = 3  # spokes: with two a chart is a line
RINGS = (25, 50, 75, 100)
COLOURS = ("#2f855a", "#dd6b20", "#b83232", "#2b6cb0", "#6b46c1")
SIZE, REACH, HEIGHT = 250, 160, 118  # points, of one chart; how far its scales go, for the names
BESIDE = 25  # from here on a name is beside the chart, not above or below it
LABELLED = 14  # candidates: more are numbered, with their names in a list


def radar_charts(points: list[dict[str, Any]], title: str, per_row: int) -> alt.ConcatChart | None:
    """The charts, from points in percent: with few candidates one for each of them, with the headings as spokes.

    None if there are too few of both.
    """
    subtitle = [f"Rings: {', '.join(map(str, RINGS))}%"]
    rows = list(dict.fromkeys(point["row"] for point in points))
    if len(rows) < FEWEST:
        points = [point | {"row": point["heading"], "heading": point["row"]} for point in points]
        rows = list(dict.fromkeys(point["row"] for point in points))
        subtitle = ["A chart for each candidate, since a radar chart needs three spokes", *subtitle]
    if len(rows) < FEWEST:
        return None
    names = rows if len(rows) <= LABELLED else [str(number) for number in range(1, len(rows) + 1)]
    lines = list(dict.fromkeys(point["over"] for point in points))
    charts = [
        _radar(heading, [point for point in points if point["heading"] == heading], rows, names, lines)
        for heading in dict.fromkeys(point["heading"] for point in points)
    ]
    numbered = [] if names is rows else [", ".join(f"{name} {row}" for name, row in zip(names, rows, strict=True))]
    heading = alt.Title(title, subtitle=[*subtitle, *_wrapped(numbered)], anchor="start")
    return alt.concat(*charts, columns=per_row, title=heading)


def _radar(
    heading: str, points: list[dict[str, Any]], rows: list[str], names: list[str], lines: list[str]
) -> alt.LayerChart:
    def place(row: int, radius: float) -> dict[str, float]:
        angle = 2 * math.pi * row / len(rows)
        return {"x": radius * math.sin(angle), "y": radius * math.cos(angle)}

    count = len(rows)
    rings = [{"ring": ring, "order": row, **place(row % count, ring)} for ring in RINGS for row in range(count + 1)]
    spokes = [{"x": 0.0, "y": 0.0} | {f"{axis}2": end for axis, end in place(row, 100).items()} for row in range(count)]
    labels = [{"name": name, **place(row, 108)} for row, name in enumerate(names)]
    values = []
    for line in lines:
        own = {point["row"]: point["value"] for point in points if point["over"] == line}
        for order, row in enumerate([*rows, rows[0]]):
            if row in own:
                values.append({"line": line, "order": order, **place(order % count, own[row])})
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-REACH, REACH]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-HEIGHT, HEIGHT]))
    colours = alt.Scale(domain=lines, range=list(COLOURS[: len(lines)]))
    colour = alt.Color("line:N", title=None, sort=lines, scale=colours)
    ground = alt.Chart(alt.Data(values=rings)).mark_line(strokeWidth=0.6, color="#c9ced6")
    rays = alt.Chart(alt.Data(values=spokes)).mark_rule(strokeWidth=0.6, color="#c9ced6")
    drawn = alt.Chart(alt.Data(values=values)).mark_line(strokeWidth=1.8, point=alt.OverlayMarkDef(size=18))
    layers = [
        ground.encode(x, y, alt.Detail("ring:N"), alt.Order("order:Q")),
        rays.encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q")),
        *_label_layers(labels, x, y),
        drawn.encode(x, y, colour, alt.Order("order:Q")),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=SIZE,
        height=SIZE * HEIGHT / REACH,
        title=alt.Title(heading, anchor="middle"),
        view=alt.ViewBackground(stroke=None),
    )
    return chart


def _label_layers(labels: list[dict[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The names around a chart: on its right they begin at their spoke, on its left they end there."""
    sides: dict[Literal["left", "center", "right"], list[dict[str, Any]]] = {
        "left": [label for label in labels if label["x"] > BESIDE],
        "center": [label for label in labels if abs(label["x"]) <= BESIDE],
        "right": [label for label in labels if label["x"] < -BESIDE],
    }
    return [
        alt.Chart(alt.Data(values=own))
        .mark_text(fontSize=9, color="#3c434c", align=side)
        .encode(x, y, alt.Text("name:N"))
        for side, own in sides.items()
        if own
    ]


def _wrapped(texts: list[str], width: int = 110) -> list[str]:
    lines: list[str] = []
    for text in texts:
        for part in text.split(", "):
            if lines and len(lines[-1]) + len(part) < width:
                lines[-1] += f", {part}"
            else:
                lines.append(part)
    return lines
