"""The contribution of each modality by group (MCS), with a conclusion.

A group is the set of modalities that a question shows; the paper does not state its groups.
"""

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from wardround.asking.tellings import shown_image_numbers
from wardround.benchmarks.engine.group_means import CaseValues, group_means, mean_value
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.cases.set import CaseSet
from wardround.core.condition import Condition
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.figures.table_figure import COLOURS
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

ASKED = ("candidate", "case", "question", "trial")
ORDER = ("CFP", "OCT", "FFA", "ICGA", "EP", "RetCam")
MIN_CLUSTERS, FEW_CLUSTERS = 8, 30  # below the first no interval, below the second only large differences show
ALL_GROUPS = "all groups"


def ablation(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The contribution of each modality in each group, also as a figure."""
    pairs = contributions(run)
    if pairs.is_empty():
        note("no question was asked both with all modalities and without one")
        return [], []
    table = groups_table(run, pairs)
    return [table], write_chart(_picture(table), folder, "contributions", note)


def contributions(run: RunFiles) -> pl.DataFrame:
    """Each answer without one modality, paired with that to the same question and trial with all of them."""
    answers = scored_answers(run, marks_at_reference(run.marks, run.study, over="without"))
    complete = answers.filter(pl.col("without") == "none").select(*ASKED, whole="right")
    return (
        answers.filter(pl.col("without") != "none")
        .join(complete, on=ASKED)
        .with_columns(group=pl.col("modalities").list.join(" + "), contribution=pl.col("whole") - pl.col("right"))
        .sort(*ASKED, "without")
    )


def groups_table(run: RunFiles, pairs: pl.DataFrame) -> Table:
    """MCS by candidate, group and modality, with a conclusion."""
    groups = sorted(set(pairs["group"]), key=lambda group: (group.count("+"), group))
    rows = []
    for candidate in ranked_candidates(run):
        for group in [*groups, ALL_GROUPS]:
            own_pairs = pairs.filter(pl.col("candidate") == candidate)
            own_pairs = own_pairs if group == ALL_GROUPS else own_pairs.filter(pl.col("group") == group)
            for modality in _ordered(set(own_pairs["without"])):
                modality_pairs = own_pairs.filter(pl.col("without") == modality)
                values = CaseValues(modality_pairs["cluster"], modality_pairs["contribution"])
                contribution = group_means({"": values}, MeasureKind.SIGNED, run.clusters, run.study.seed)[""]
                accuracies = [Cell(mean_value(modality_pairs["whole"])), Cell(mean_value(modality_pairs["right"]))]
                counts = [Cell(contribution.clusters), Cell(len(modality_pairs)), Cell(text=_conclusion(contribution))]
                rows.append(TableRow((candidate, group, modality), [*accuracies, contribution, *counts]))
    columns = [
        Column("all", "Accuracy with"),
        Column("without it", "Accuracy with"),
        Column("MCS"),
        Column("Cases", unit="count"),
        Column("Answers", unit="count"),
        Column("It says", unit="text"),
    ]
    notes = [
        "MCS: accuracy with all modalities minus accuracy without one, on the same questions and trials; above zero "
        "the modality helps. Questions that show a single modality are left out.",
        f"Below {MIN_CLUSTERS} cases there is no interval; below {FEW_CLUSTERS} only large differences can show.",
        "Groups are the modalities that a question shows; the paper does not state its own.",
        *(f"Warning: {warning}." for warning in run.manifest.get("warnings", []) if warning.startswith("without = ")),
    ]
    return Table("What each modality contributes, by group", ("Candidate", "Group", "Left out"), columns, rows, notes)


def _conclusion(contribution: Cell) -> str:
    if contribution.low is None or contribution.high is None:
        return "too few cases to say anything"
    suffix = ", few cases" if (contribution.clusters or 0) < FEW_CLUSTERS else ""
    return ("helps" if contribution.low > 0 else "hurts" if contribution.high < 0 else "cannot tell") + suffix


def scored_answers(run: RunFiles, marks: pl.LazyFrame) -> pl.DataFrame:
    """Scored choice answers with the modalities that their questions show if none is left out."""
    scored = marks.filter(pl.col("outcome").is_in(run.study.scored_outcomes), pl.col("kind") == "choice").select(
        *ASKED, "cluster", "condition", "stage", "task", right=(pl.col("outcome") == "right").cast(pl.Float64)
    )
    without = pl.DataFrame(
        [(name, axes["without"]) for name, axes in run.conditions.items()],
        schema={"condition": pl.String, "without": pl.String},
        orient="row",
    )
    return scored.collect().join(without, on="condition").join(_modalities_shown(run), on=("case", "question"))


def _modalities_shown(run: RunFiles) -> pl.DataFrame:
    """The modalities that each question shows."""
    rows = []
    for case in CaseSet.open(run.cases_file, check_images=False):
        for question in case.questions:
            numbers = shown_image_numbers(case, question, Condition())
            modalities = {case.images[number].modality for number in numbers} - {None}
            rows.append((case.id, question.id, _ordered({str(modality) for modality in modalities})))
    schema: dict[str, Any] = {"case": pl.String, "question": pl.String, "modalities": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _ordered(modalities: set[str]) -> list[str]:
    return sorted(modalities, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def _picture(table: Table) -> alt.FacetChart:
    points: list[dict[str, Any]] = []
    for row in table.rows:
        contribution = row.cells[2]
        if contribution.value is None:
            continue
        bounds = {"low": contribution.low, "high": contribution.high}
        points.append(
            {
                "candidate": row.labels[0],
                "group": row.labels[1],
                "modality": f"{row.labels[2]}, {row.cells[3].value} cases",
                "value": 100 * contribution.value,
                **{name: None if end is None else 100 * end for name, end in bounds.items()},
            }
        )
    groups = list(dict.fromkeys(point["group"] for point in points))
    names = list(dict.fromkeys(point["candidate"] for point in points))
    base = alt.Chart()
    title = "MCS (points): accuracy with all less accuracy without"
    counts = sorted({row.cells[3].value or 0 for row in table.rows})
    order = [f"{modality}, {cases} cases" for modality in ORDER for cases in counts]
    y = alt.Y("modality:N", title=None, sort=order)
    scale = alt.Scale(domain=names, range=[COLOURS[place % len(COLOURS)] for place in range(len(names))])
    colour = alt.Color("candidate:N", sort=names, scale=scale, title=None)
    offset = alt.YOffset("candidate:N", sort=names)
    zero = base.mark_rule(color="#999999", strokeDash=[4, 3]).encode(x=alt.datum(0))
    ranges = base.mark_rule().encode(alt.X("low:Q", title=title), alt.X2("high:Q"), y, colour, offset)
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("value:Q", title=title), y, colour, offset)
    layered = alt.layer(zero, ranges, dots, data=alt.Data(values=points)).properties(
        width=420, height=alt.Step(16, **{"for": "offset"})
    )
    chart: alt.FacetChart = layered.facet(
        row=alt.Row(
            "group:N",
            sort=groups,
            title=None,
            header=alt.Header(
                labelAngle=0, labelAnchor="start", labelOrient="top", labelPadding=2, labelFontWeight="bold"
            ),
        )
    ).resolve_scale(y="independent")
    return chart
