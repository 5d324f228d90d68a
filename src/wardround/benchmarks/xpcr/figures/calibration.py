"""Reliability diagrams: accuracy by stated confidence, and the share of answers that are sure and wrong."""

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from wardround.benchmarks.engine.group_means import CaseValues, group_means
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.measures.confidence import is_confident, uas_weights
from wardround.measuring.measures.reliability import reliability
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Column, Table, TableRow

PANELS_PER_ROW = 3
KINDS = {
    (True, True): "right and sure",
    (True, False): "right, unsure",
    (False, False): "wrong, unsure",
    (False, True): "wrong and sure",
}


def calibration(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The diagrams, and the four kinds of answer."""
    bins = reliability(marks_at_reference(run.marks, run.study), run.study)
    if bins.is_empty():
        note("no candidate stated a confidence: nothing to draw")
        return [], []
    chart = _diagrams(bins, ranked_candidates(run))
    return [_kinds_table(run)], write_chart(chart, folder, "reliability", note)


def _kinds_table(run: RunFiles) -> Table:
    marks = claims_with_certainty(run)
    rows = []
    for candidate in ranked_candidates(run):
        own_marks = marks.filter(pl.col("candidate") == candidate)
        if own_marks.is_empty():
            continue
        is_right, is_sure = own_marks["right"], own_marks["sure"]
        groups = {
            label: CaseValues(own_marks["cluster"], ((is_right == right) & (is_sure == sure)).cast(pl.Float64))
            for (right, sure), label in KINDS.items()
        }
        wrong = own_marks.filter(~pl.col("right"))
        groups["of wrong ones"] = CaseValues(wrong["cluster"], wrong["sure"].cast(pl.Float64))
        means = group_means(groups, MeasureKind.RATE, run.clusters, run.study.seed)
        rows.append(TableRow((candidate,), list(means.values())))
    columns = [Column(label, "Share of answers") for label in KINDS.values()]
    notes = [
        "Sure: a stated confidence from UAS's own threshold on, which is 0.5 for questions of mean importance or less "
        "and rises with importance, our choice. Answers that state none are left out here; UAS counts them as sure "
        "and weights the four kinds by level and importance (its version is in measures.csv).",
    ]
    return Table(
        "Right or wrong, sure or not", ("Candidate",), [*columns, Column("sure", "Of wrong ones")], rows, notes
    )


def claims_with_certainty(run: RunFiles) -> pl.DataFrame:
    """Each choice with a stated confidence: whether it is right, and whether UAS counts it as confident."""
    questions = run.marks.select("case", "question", "grade", "importance").unique(("case", "question")).collect()
    _, importance = uas_weights(questions)
    scaled = questions.select("case", "question").with_columns(importance=pl.Series(importance))
    marks = (
        marks_at_reference(run.marks, run.study)
        .filter(pl.col("confidence").is_not_null(), pl.col("outcome").is_in(["right", "wrong"]))
        .filter(pl.col("kind") == "choice")
        .select("candidate", "case", "question", "cluster", "confidence", right=pl.col("outcome") == "right")
        .collect()
        .join(scaled, on=("case", "question"), maintain_order="left")
    )
    sure = is_confident(marks["confidence"].to_numpy(), marks["importance"].to_numpy())
    return marks.with_columns(sure=pl.Series(sure, dtype=pl.Boolean))


def _diagrams(bins: pl.DataFrame, order: list[str]) -> alt.ConcatChart:
    """One panel for each candidate: accuracy by confidence with intervals, and the number of answers."""
    panels = []
    for candidate in order:
        points: list[dict[str, Any]] = bins.filter(candidate=candidate).to_dicts()
        if not points:
            continue
        base = alt.Chart(alt.Data(values=points), title=alt.Title(candidate, anchor="start"))
        scale = alt.Scale(domain=[0, 1])
        percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
        x = alt.X("confidence:Q", title="Confidence", scale=scale, axis=percent)
        diagonal_points = alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
        dashes = alt.Chart(diagonal_points).mark_line(color="#999999", strokeDash=[4, 3], strokeWidth=1)
        diagonal = dashes.encode(x="x:Q", y="y:Q")
        ranges = base.mark_rule().encode(
            x, alt.Y("low:Q", title="Accuracy", scale=scale, axis=percent), alt.Y2("high:Q")
        )
        dots = base.mark_point(filled=True, size=60, opacity=1).encode(
            x, alt.Y("accuracy:Q", title="Accuracy", scale=scale)
        )
        diagram = (diagonal + ranges + dots).properties(width=220, height=200)
        counts = base.mark_bar(color="#9fb3c8").encode(
            alt.X("bin_low:Q", title="Confidence", scale=scale, axis=percent),
            alt.X2("bin_high:Q"),
            alt.Y("n:Q", title="Answers", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=2)),
            alt.Y2(datum=0),
        )
        panels.append(alt.vconcat(diagram, counts.properties(title="", width=220, height=50), spacing=4))
    return alt.concat(*panels, columns=2 if len(panels) == 4 else PANELS_PER_ROW)
