"""Accuracy by the number of modalities that a question shows, and the drop from one modality to several."""

from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from wardround.benchmarks.engine.group_means import CaseValues, combined_cell, group_means
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.benchmarks.xpcr.figures.modalities import scored_answers
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.figures.table_figure import COLOURS
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

ALL, DIAGNOSIS = "all", "diagnosis"
SEVERAL = "2 or more"
PANELS = {ALL: "all questions", DIAGNOSIS: DIAGNOSIS}


def cross(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Accuracy by the number of modalities, and the drop from one to several, also as a figure."""
    answers = scored_answers(run, marks_at_reference(run.marks, run.study))
    answers = answers.with_columns(count=pl.col("modalities").list.len()).filter(pl.col("count") > 0)
    counts = sorted(set(answers["count"].to_list()))
    if not counts:
        note("no question shows an image with a modality")
        return [], []
    table = _counts_table(run, answers, counts)
    if len(counts) < 2 or counts[0] != 1:
        note("the drop from one modality to several needs questions with one modality and questions with more")
        return [table], []
    drops = modality_drops(run, answers, counts[1:])
    chart = _picture(table, drops, counts)
    return [table, _drops_table(drops)], write_chart(chart, folder, "modality-drops", note)


def _counts_table(run: RunFiles, answers: pl.DataFrame, counts: list[int]) -> Table:
    tasks = sorted(set(answers["task"].drop_nulls()))
    rows = []
    for candidate in ranked_candidates(run):
        for task in ["", *tasks]:
            own_answers = answers.filter(pl.col("candidate") == candidate)
            own_answers = own_answers.filter(pl.col("task") == task) if task else own_answers
            groups = {count: own_answers.filter(pl.col("count") == count) for count in counts}
            values = {count: CaseValues(group["cluster"], group["right"]) for count, group in groups.items()}
            means = group_means(values, MeasureKind.RATE, run.clusters, run.study.seed)
            sizes = [Cell(len(group)) for group in groups.values()]
            rows.append(TableRow((candidate, task or ALL), [*means.values(), *sizes]))
    columns = [
        *(Column(_label(count), "Accuracy by modalities shown") for count in counts),
        *(Column(_label(count), "Answers", "count") for count in counts),
    ]
    notes = [
        "By the number of different modalities that a question shows. Questions with more modalities are different "
        "questions about different eyes: a fall from left to right is not by itself the cost of integration. "
        "`xpcr/ablation` leaves modalities out of the same questions.",
    ]
    return Table("Accuracy by number of modalities", ("Candidate", "Task"), columns, rows, notes)


class ModalityDrop(NamedTuple):
    """Accuracy with one modality, with several, and the drop: of all questions, and within the same eyes."""

    candidate: str
    questions: str
    modalities: str
    one: Cell
    several: Cell
    drop: Cell
    paired: Cell
    eyes: int


def modality_drops(run: RunFiles, answers: pl.DataFrame, counts: list[int]) -> list[ModalityDrop]:
    """The drop from one modality to each larger number and to all of them, by candidate.

    `all`: any questions. `diagnosis`: the diagnosis on one image (DD) against that on all images (integration).
    """
    diagnoses = answers.filter(
        ((pl.col("count") == 1) & (pl.col("stage") == "DD"))
        | ((pl.col("count") > 1) & (pl.col("task") == "integration"))
    )
    drops = []
    for candidate in ranked_candidates(run):
        for name, questions in ((ALL, answers), (DIAGNOSIS, diagnoses)):
            own_answers = questions.filter(candidate=candidate)
            one = own_answers.filter(count=1)
            larger = {str(count): own_answers.filter(count=count) for count in counts}
            if len(counts) > 1:
                larger[SEVERAL] = own_answers.filter(pl.col("count") > 1)
            drops += [_drop(run, candidate, name, count, one, part) for count, part in larger.items() if len(part)]
    return [drop for drop in drops if drop.one.value is not None]


def _drop(
    run: RunFiles, candidate: str, questions: str, count: str, one: pl.DataFrame, several: pl.DataFrame
) -> ModalityDrop:
    groups = [CaseValues(part["cluster"], part["right"]) for part in (one, several)]
    rates = group_means(dict(enumerate(groups)), MeasureKind.RATE, run.clusters, run.study.seed)
    drop = combined_cell(groups, lambda first, second: first - second, run.clusters, run.study.seed)
    by_eye = [
        part.group_by("case", "cluster").agg(**{name: pl.col("right").mean()})
        for name, part in (("one", one), ("several", several))
    ]
    eyes = by_eye[0].join(by_eye[1], on=("case", "cluster")).sort("case")
    values = CaseValues(eyes["cluster"], eyes["one"] - eyes["several"])
    paired = group_means({"": values}, MeasureKind.SIGNED, run.clusters, run.study.seed)[""]
    return ModalityDrop(candidate, questions, count, rates[0], rates[1], drop, paired, len(eyes))


def _drops_table(drops: list[ModalityDrop]) -> Table:
    rows = [
        TableRow(
            (drop.candidate, drop.questions, drop.modalities),
            [drop.one, drop.several, drop.drop, drop.paired, Cell(drop.eyes)],
        )
        for drop in drops
    ]
    columns = [
        Column("one modality", "Accuracy with"),
        Column("several", "Accuracy with"),
        Column("all questions", "Drop (points)"),
        Column("same eyes", "Drop (points)"),
        Column("Eyes with both", unit="count"),
    ]
    notes = [
        "Drop: accuracy with one modality minus accuracy with several. All questions: not paired, both resampled "
        "together over clusters. Same eyes: the mean over eyes that have questions of both kinds.",
        "Diagnosis compares the diagnosis on one image (stage DD) with that on all images of the eye (task "
        "integration): the nearest to one question with more images. The paper does not say what it compares.",
    ]
    return Table("From one modality to several", ("Candidate", "Questions", "Modalities"), columns, rows, notes)


def _picture(table: Table, drops: list[ModalityDrop], counts: list[int]) -> alt.HConcatChart:
    """Left: accuracy by number of modalities, all questions. Right: the drop within the same eyes."""
    names = list(dict.fromkeys(row.labels[0] for row in table.rows))
    accuracies = [
        {"candidate": row.labels[0], "count": str(count), **_points(cell)}
        for row in table.rows
        if row.labels[1] == ALL
        for count, cell in zip(counts, row.cells, strict=False)
        if cell.value is not None
    ]
    paired = [
        {"candidate": drop.candidate, "count": drop.modalities, "questions": drop.questions, **_points(drop.paired)}
        for drop in drops
        if drop.paired.value is not None and drop.modalities != SEVERAL
    ]
    scale = alt.Scale(domain=names, range=[COLOURS[place % len(COLOURS)] for place in range(len(names))])
    colour = alt.Color("candidate:N", sort=names, scale=scale, title=None, legend=alt.Legend(orient="top", columns=6))
    left = _dots(accuracies, "Accuracy (%)", colour, names, [0, 100])
    lines = alt.Chart(alt.Data(values=accuracies)).mark_line(strokeWidth=1.5)
    offset = alt.XOffset("candidate:N", sort=names)
    x = alt.X("count:N", title="Modalities shown", axis=alt.Axis(labelAngle=0))
    lines = lines.encode(x, alt.Y("value:Q"), colour, offset)
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color="#999999", strokeDash=[4, 3]).encode(y=alt.datum(0))
    panels = [(lines + left).properties(width=260, height=260, title="Accuracy, all questions")]
    for questions in (ALL, DIAGNOSIS):
        if own := [point for point in paired if point["questions"] == questions]:
            dots = _dots(own, "Drop from one modality (points)", colour, names, _domain(own))
            panels.append(
                (zero + dots).properties(width=230, height=260, title=f"Drop in the same eyes: {PANELS[questions]}")
            )
    return alt.hconcat(*panels)


def _dots(
    points: list[dict[str, Any]], title: str, colour: alt.Color, names: list[str], domain: list[float]
) -> alt.LayerChart | alt.FacetChart:
    base = alt.Chart(alt.Data(values=points))
    x = alt.X("count:N", title="Modalities shown", axis=alt.Axis(labelAngle=0))
    offset = alt.XOffset("candidate:N", sort=names)
    scale = alt.Scale(domain=domain, nice=False)
    ranges = base.mark_rule().encode(x, alt.Y("low:Q", title=title, scale=scale), alt.Y2("high:Q"), colour, offset)
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(x, alt.Y("value:Q", title=title), colour, offset)
    return alt.layer(ranges, dots)


def _domain(points: list[dict[str, Any]]) -> list[float]:
    """From the lowest end of an interval to the highest, with zero, in steps of ten."""
    ends = [0.0, *(point[name] for point in points for name in ("value", "low", "high") if point[name] is not None)]
    return [10.0 * floor(min(ends) / 10), 10.0 * ceil(max(ends) / 10)]


def _points(cell: Cell) -> dict[str, float | None]:
    ends = {"value": cell.value, "low": cell.low, "high": cell.high}
    return {name: None if end is None else 100 * end for name, end in ends.items()}


def _label(count: int) -> str:
    return f"{count} modality" if count == 1 else f"{count} modalities"
