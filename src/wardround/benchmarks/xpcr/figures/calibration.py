"""Reliability diagrams: how often answers are right at each confidence, and how many are sure and wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from wardround.benchmarks.engine.group_means import Values, means
from wardround.core.errors import WardroundError
from wardround.measuring.engine.measure import Kind
from wardround.measuring.measures.reliability import reliability
from wardround.reporting.figures.table_figure import write_figure
from wardround.reporting.reference_condition import marks_at_reference, ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Column, Row, Table

PANELS_A_ROW = 3
SURE = 0.5  # our choice: the paper does not tell its threshold
KINDS = {
    (True, True): "right and sure",
    (True, False): "right, unsure",
    (False, False): "wrong, unsure",
    (False, True): "wrong and sure",
}


def calibration(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """The diagrams, and the four kinds of answer."""
    bins = reliability(marks_at_reference(run), run.as_study)
    if bins.is_empty():
        note("no candidate stated a confidence: nothing to draw")
        return [], []
    table = _kinds(run)
    try:
        return [table], write_figure(_diagrams(bins, ranked(run)), folder, "reliability")
    except WardroundError as error:
        note(str(error))
        return [table], []


def _kinds(run: RunFolder) -> Table:
    marks = (
        marks_at_reference(run)
        .filter(pl.col("confidence").is_not_null(), pl.col("outcome").is_in(["right", "wrong"]))
        .select("candidate", "cluster", "confidence", right=pl.col("outcome") == "right")
        .collect()
    )
    clusters = sorted(set(marks["cluster"]))
    rows = []
    for name in ranked(run):
        own = marks.filter(pl.col("candidate") == name)
        if own.is_empty():
            continue
        groups = {
            told: Values(
                own["cluster"], ((own["right"] == right) & ((own["confidence"] >= SURE) == sure)).cast(pl.Float64)
            )
            for (right, sure), told in KINDS.items()
        }
        wrong = own.filter(~pl.col("right"))
        groups["of wrong ones"] = Values(wrong["cluster"], (wrong["confidence"] >= SURE).cast(pl.Float64))
        rows.append(Row((name,), list(means(groups, Kind.RATE, clusters, run.as_study.seed).values())))
    columns = [Column(told, "Share of answers") for told in KINDS.values()]
    notes = [
        f"Sure: a stated confidence of {SURE:g} or more, our choice. UAS weighs these four kinds by level and "
        "importance, with constants of ours (its version is in measures.csv)."
    ]
    return Table(
        "Right or wrong, sure or not", ("Candidate",), [*columns, Column("sure", "Of wrong ones")], rows, notes
    )


def _diagrams(bins: pl.DataFrame, order: list[str]) -> alt.ConcatChart:
    """A panel a candidate: accuracy over confidence with intervals, and how many answers there are of each."""
    panels = []
    for name in order:
        told: list[dict[str, Any]] = bins.filter(candidate=name).to_dicts()
        if not told:
            continue
        base = alt.Chart(alt.Data(values=told), title=alt.Title(name, anchor="start"))
        scale = alt.Scale(domain=[0, 1])
        percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
        x = alt.X("confidence:Q", title="Confidence", scale=scale, axis=percent)
        ends = alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
        even = alt.Chart(ends).mark_line(color="#999999", strokeDash=[4, 3], strokeWidth=1).encode(x="x:Q", y="y:Q")
        ranges = base.mark_rule().encode(
            x, alt.Y("low:Q", title="Accuracy", scale=scale, axis=percent), alt.Y2("high:Q")
        )
        dots = base.mark_point(filled=True, size=60, opacity=1).encode(
            x, alt.Y("accuracy:Q", title="Accuracy", scale=scale)
        )
        above = (even + ranges + dots).properties(width=220, height=200)
        counts = base.mark_bar(color="#9fb3c8").encode(
            alt.X("bin_low:Q", title="Confidence", scale=scale, axis=percent),
            alt.X2("bin_high:Q"),
            alt.Y("n:Q", title="Answers", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=2)),
            alt.Y2(datum=0),
        )
        panels.append(alt.vconcat(above, counts.properties(title="", width=220, height=50), spacing=4))
    return alt.concat(*panels, columns=PANELS_A_ROW)
