"""Draws docs/scale/answers.svg: CPU and memory against the number of stored answers, from perf/history.csv.

    python docs/scale/draw_answers.py

Prints each curve with its exponent: the slope of a straight line through the logarithms, by least squares. Of equal
figures for the same number of answers the last row counts.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

FOLDER = Path(__file__).parent
HISTORY = FOLDER.parent.parent / "perf" / "history.csv"
CPU, PEAK = "microseconds of CPU per answer", "peak memory in MB"
FIGURE = re.compile(rf"({CPU}|{PEAK}), (.+) of ([\d,]+)")
FIELDS = {"panel": pl.String, "part": pl.String, "answers": pl.Int64, "value": pl.Float64}
PANELS = {CPU: "CPU, seconds", PEAK: "peak memory, MB"}


def main() -> None:
    with HISTORY.open(newline="") as file:
        table = read_figures([row for row in csv.DictReader(file) if row["part"] == "growth"])
    for (panel, part), own in table.group_by("panel", "part", maintain_order=True):
        print(f"{panel}, {part}: {own.select('answers', 'value').rows()}; exponent {exponent(own):.2f}")
    drawn = alt.hconcat(*(draw_panel(table.filter(panel=panel), panel) for panel in PANELS.values()))
    drawn.save(FOLDER / "answers.svg")


def read_figures(rows: list[dict[str, str]]) -> pl.DataFrame:
    """Panel, part, answers and value of every figure of `perf growth` that a panel shows; CPU as the sum."""
    values: dict[tuple[str, str, int], float] = {}
    for row in rows:
        if match := FIGURE.fullmatch(row["figure"]):
            answers = int(match[3].replace(",", ""))
            share = answers / 1e6 if match[1] == CPU else 1.0
            values[PANELS[match[1]], match[2], answers] = float(row["value"]) * share
    return pl.DataFrame([(*key, value) for key, value in values.items()], schema=FIELDS, orient="row").sort("answers")


def exponent(own: pl.DataFrame) -> float:
    return float(np.polyfit(np.log(own["answers"]), np.log(own["value"]), 1)[0])


def draw_panel(table: pl.DataFrame, title: str) -> alt.LayerChart:
    """A chart with two logarithmic axes; at the end of each curve stands its exponent."""
    sizes = sorted(set(table["answers"]))
    base = alt.Chart(table, title=title).encode(
        x=alt.X("answers", scale=alt.Scale(type="log"), axis=alt.Axis(values=sizes, format=",", title="answers")),
        y=alt.Y("value", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(title=None, format=",~r", tickCount=6)),
        color=alt.Color("part", legend=alt.Legend(title=None, orient="bottom", direction="vertical", labelLimit=0)),
    )
    ends = [
        own.filter(pl.col("answers") == max(sizes)).with_columns(exponent=pl.lit(f"{exponent(own):.2f}"))
        for _, own in table.group_by("part", maintain_order=True)
    ]
    labels = base.mark_text(align="left", dx=7).encode(text="exponent").properties(data=pl.concat(ends))
    drawn: alt.LayerChart = base.mark_line() + base.mark_point(filled=True, size=60) + labels
    return drawn.properties(width=380, height=280)


if __name__ == "__main__":
    main()
