"""Across modalities: accuracy by how many a question shows, and what each contributes in each group of them.

A group is the set of modalities that a question shows: the paper does not tell its groups.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from wardround.asking.applicable import shown_images
from wardround.benchmarks.engine.group_means import Values, means
from wardround.cases.set import CaseSet
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.measuring.engine.measure import Kind
from wardround.reporting.figures.table_figure import write_figure
from wardround.reporting.reference_condition import marks_at_reference, ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

SCORED = ("right", "wrong", "unparsed")
ASKED = ("candidate", "case", "question", "trial")
ORDER = ("CFP", "OCT", "FFA", "ICGA", "EP", "RetCam")
FEWEST, FEW = 8, 30  # clusters: no interval below the first, only large differences below the second
ALL_GROUPS = "all groups"


def cross(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Accuracy by the number of modalities that a question shows."""
    answers = _answers(run, marks_at_reference(run))
    counts = [each for each in sorted(set(answers["modalities"].list.len().to_list())) if each]
    if not counts:
        note("no question shows an image whose modality is told")
        return [], []
    clusters = sorted(set(answers["cluster"]))
    tasks = sorted(set(answers["task"].drop_nulls()))
    rows = []
    for name in ranked(run):
        for task in ["", *tasks]:
            own = answers.filter(pl.col("candidate") == name)
            own = own.filter(pl.col("task") == task) if task else own
            groups = {many: own.filter(pl.col("modalities").list.len() == many) for many in counts}
            found = means({many: _right(each) for many, each in groups.items()}, Kind.RATE, clusters, run.as_study.seed)
            rows.append(Row((name, task or "all"), [*found.values(), *(Cell(len(each)) for each in groups.values())]))
    columns = [
        *(Column(_many(each), "Accuracy by modalities shown") for each in counts),
        *(Column(_many(each), "Answers", "count") for each in counts),
    ]
    notes = [
        "By how many different modalities a question shows. Questions with more of them are other questions about "
        "other eyes: a fall from left to right is not by itself the cost of integration. `xpcr/ablation` leaves "
        "modalities out of the same questions.",
    ]
    return [Table("Accuracy by number of modalities", ("Candidate", "Task"), columns, rows, notes)], []


def ablation(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """What each modality contributes in each group, and a picture of it."""
    pairs = contributions(run)
    if pairs.is_empty():
        note("no question was asked both with all modalities and without one")
        return [], []
    table = groups_table(run, pairs)
    try:
        return [table], write_figure(_picture(table), folder, "contributions")
    except WardroundError as error:
        note(str(error))
        return [table], []


def contributions(run: RunFolder) -> pl.DataFrame:
    """Each answer with all modalities beside that to the same question, in the same trial, without one."""
    told = _answers(run, marks_at_reference(run, over=("without",)))
    whole = told.filter(pl.col("without") == "none").select(*ASKED, whole="right")
    return (
        told.filter(pl.col("without") != "none")
        .join(whole, on=ASKED)
        .with_columns(group=pl.col("modalities").list.join(" + "), contribution=pl.col("whole") - pl.col("right"))
        .sort(*ASKED, "without")
    )


def groups_table(run: RunFolder, pairs: pl.DataFrame) -> Table:
    """MCS by candidate, group and modality, with what it can say."""
    clusters = sorted(set(pairs["cluster"]))
    groups = sorted(set(pairs["group"]), key=lambda group: (group.count("+"), group))
    rows = []
    for name in ranked(run):
        for group in [*groups, ALL_GROUPS]:
            own = pairs.filter(pl.col("candidate") == name)
            own = own if group == ALL_GROUPS else own.filter(pl.col("group") == group)
            for modality in _in_order(set(own["without"])):
                each = own.filter(pl.col("without") == modality)
                found = means(
                    {"mcs": Values(each["cluster"], each["contribution"])}, Kind.SIGNED, clusters, run.as_study.seed
                )["mcs"]
                sides = [Cell(_mean(each["whole"])), Cell(_mean(each["right"]))]
                counts = [Cell(found.clusters), Cell(len(each)), Cell(said=_says(found))]
                rows.append(Row((name, group, modality), [*sides, found, *counts]))
    columns = [
        Column("all", "Accuracy with"),
        Column("without it", "Accuracy with"),
        Column("MCS"),
        Column("Cases", unit="count"),
        Column("Answers", unit="count"),
        Column("It says", unit="text"),
    ]
    notes = [
        "MCS: accuracy with all modalities less accuracy without one, on the same questions and trials; above zero the "
        "modality helps. Questions that show one modality alone are left out.",
        f"Under {FEWEST} cases there is no interval; under {FEW} only large differences can show.",
        "Groups are the modalities that a question shows; the paper does not tell its own.",
        *(f"Mind: {told}." for told in run.manifest.get("warnings", []) if told.startswith("without = ")),
    ]
    return Table("What each modality contributes, by group", ("Candidate", "Group", "Left out"), columns, rows, notes)


def _says(found: Cell) -> str:
    if found.low is None or found.high is None:
        return "too few cases to say anything"
    few = ", few cases" if (found.clusters or 0) < FEW else ""
    return ("helps" if found.low > 0 else "hurts" if found.high < 0 else "cannot tell") + few


def _answers(run: RunFolder, marks: pl.LazyFrame) -> pl.DataFrame:
    """Scored choice answers with the modalities that their questions show when none is left out."""
    told = marks.filter(pl.col("outcome").is_in(SCORED), pl.col("kind") == "choice").select(
        *ASKED, "cluster", "condition", "task", right=(pl.col("outcome") == "right").cast(pl.Float64)
    )
    without = pl.DataFrame(
        [(name, axes["without"]) for name, axes in run.conditions.items()],
        schema={"condition": pl.String, "without": pl.String},
        orient="row",
    )
    return told.collect().join(without, on="condition").join(_shown(run), on=("case", "question"))


def _shown(run: RunFolder) -> pl.DataFrame:
    """The modalities that each question shows."""
    rows = []
    for case in CaseSet.open(run.cases_file):
        for question in case.questions:
            numbers = shown_images(case, question, Condition())
            held = {case.images[number].modality for number in numbers} - {None}
            rows.append((case.id, question.id, _in_order({str(each) for each in held})))
    schema = {"case": pl.String, "question": pl.String, "modalities": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _in_order(modalities: set[str]) -> list[str]:
    return sorted(modalities, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def _right(answers: pl.DataFrame) -> Values:
    return Values(answers["cluster"], answers["right"])


def _many(number: int) -> str:
    return f"{number} modality" if number == 1 else f"{number} modalities"


def _mean(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if len(values) else None


def _picture(table: Table) -> alt.FacetChart:
    told: list[dict[str, Any]] = []
    for row in table.rows:
        found = row.cells[2]
        if found.value is None:
            continue
        ends = {"low": found.low, "high": found.high}
        told.append(
            {
                "candidate": row.labels[0],
                "group": row.labels[1],
                "modality": f"{row.labels[2]}, {row.cells[3].value} cases",
                "value": 100 * found.value,
                **{name: None if end is None else 100 * end for name, end in ends.items()},
            }
        )
    groups = list(dict.fromkeys(each["group"] for each in told))
    names = list(dict.fromkeys(each["candidate"] for each in told))
    base = alt.Chart()
    title = "MCS (points): accuracy with all less accuracy without"
    order = [
        f"{modality}, {many} cases" for modality in ORDER for many in sorted({row.cells[3].value for row in table.rows})
    ]
    y = alt.Y("modality:N", title=None, sort=order)
    colour = alt.Color("candidate:N", sort=names, title=None)
    offset = alt.YOffset("candidate:N", sort=names)
    zero = base.mark_rule(color="#999999", strokeDash=[4, 3]).encode(x=alt.datum(0))
    ranges = base.mark_rule().encode(alt.X("low:Q", title=title), alt.X2("high:Q"), y, colour, offset)
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("value:Q", title=title), y, colour, offset)
    layered = alt.layer(zero, ranges, dots, data=alt.Data(values=told)).properties(
        width=420, height=alt.Step(16, **{"for": "offset"})
    )
    return layered.facet(
        row=alt.Row(
            "group:N",
            sort=groups,
            title=None,
            header=alt.Header(
                labelAngle=0, labelAnchor="start", labelOrient="top", labelPadding=2, labelFontWeight="bold"
            ),
        )
    ).resolve_scale(y="independent")
