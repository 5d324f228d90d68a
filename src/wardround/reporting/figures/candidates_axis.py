"""A table with candidates along x, coloured by their group: one marker for each column (MedQ-Deg's Figure 3)."""

import json
from typing import Any

import altair as alt

UNGROUPED = "no group"
GREY = "#7b8490"
COLOURS = ("#2b6cb0", "#8c5a3c", "#6b46c1", "#2f855a", "#b83232", "#0b9fae", "#d53f8c", "#b7950b")
SHAPES = ("circle", "diamond", "triangle-down", "square", "cross")
STEP = 10  # width of a marker, in points


def candidates_axis(base: alt.Chart, points: list[dict[str, Any]], x: str, y: str) -> alt.LayerChart:
    """Markers over each candidate, joined by a line, with intervals; published candidates are faint."""
    rows = list(dict.fromkeys(point["row"] for point in points))
    columns = list(dict.fromkeys(point["column"] for point in points))
    groups = list(dict.fromkeys(point["group"] or UNGROUPED for point in points))
    colours = [GREY if group == UNGROUPED else COLOURS[place % len(COLOURS)] for place, group in enumerate(groups)]
    named = base.transform_calculate(named_group=f"datum.group || '{UNGROUPED}'")
    across = alt.X(
        "row:N",
        sort=rows,
        title=x,
        axis=alt.Axis(labelAngle=-60, labelLimit=220, labelColor=_label_colours(points, groups, colours)),
    )
    scale = alt.Scale(domain=groups, range=colours)
    colour = alt.Color("named_group:N", title="Group", scale=scale, legend=alt.Legend(labelLimit=300, symbolOpacity=1))
    shape = alt.Shape("column:N", title=None, sort=columns, scale=alt.Scale(domain=columns, range=list(SHAPES)))
    offset = alt.XOffset("column:N", sort=columns)
    height = alt.Y("value:Q", title=y, scale=alt.Scale(zero=False))
    faint = alt.condition("datum.source == 'run'", alt.value(1.0), alt.value(0.55))
    falls = named.mark_line(strokeWidth=1, opacity=0.5).encode(across, offset, height, colour, alt.Detail("row:N"))
    ends = named.mark_rule(opacity=0.5).encode(across, offset, alt.Y("low:Q", title=y), alt.Y2("high:Q"), colour)
    markers = named.mark_point(filled=True, size=55).encode(across, offset, height, colour, shape, opacity=faint)
    step = alt.Step(STEP, **{"for": "offset"})
    chart: alt.LayerChart = alt.LayerChart(layer=[falls, ends, markers]).properties(width=step, height=300)
    return chart


def _label_colours(points: list[dict[str, Any]], groups: list[str], colours: list[str]) -> Any:
    """The colour of each label on the axis, by the group of its candidate."""
    conditions = []
    for group, colour in zip(groups, colours, strict=True):
        rows = list(dict.fromkeys(point["row"] for point in points if (point["group"] or UNGROUPED) == group))
        conditions.append({"test": f"indexof({json.dumps(rows)}, datum.value) >= 0", "value": colour})
    return {"condition": conditions, "value": GREY}
