"""Table 6's cliff: does accuracy fall more from L1 to L2 than from L0 to L1, for each type of degradation?

The three levels of a type are compared on the same questions: L2 - L1 less L1 - L0, in each case. Sign-flip tests,
adjusted over the types of a candidate. A negative difference beyond chance is a cliff.
"""

from pathlib import Path

import polars as pl

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.benchmarks.engine.group_means import CaseValues, group_means, sign_flip_p_values
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.measuring.engine.measure import MeasureKind
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

SHOWN_ALONE = 6  # candidates: of more only their mean is shown
ALL = "all candidates"
ALPHA = 0.05
STEPS = {"first": "L0 to L1", "second": "L1 to L2", "cliff": "Second less first"}
SAME = ("candidate", "case", "original", "type")


def table6(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The cliff of every type, of the mean over candidates and of each candidate."""
    changes = step_changes(run)
    if changes.is_empty():
        note("the cliff needs questions with one type of degradation at L1 and at L2, and their clean twins")
        return [], []
    candidates = [name for name in run.candidates if name in set(changes["candidate"])]
    rows = []
    if len(candidates) > 1:
        rows += _rows(run, ALL, _mean_over_candidates(changes))
    if len(candidates) <= SHOWN_ALONE:
        for name in candidates:
            rows += _rows(run, name, changes.filter(candidate=name))
    columns = [*(Column(heading, decimals=1) for heading in STEPS.values())]
    columns += [Column("p", unit="fraction", decimals=3), Column("p adjusted", unit="fraction", decimals=3)]
    columns.append(Column("Cliff", unit="text"))
    notes = [
        "A cliff is named if accuracy falls more from L1 to L2 than from L0 to L1 on the same questions, with p at "
        f"most {ALPHA} after adjustment over the types of a candidate (sign-flip max-T).",
    ]
    return [Table("The cliff from L1 to L2, by type", ("Candidate", "Type"), columns, rows, notes)], []


def step_changes(run: RunFiles) -> pl.DataFrame:
    """Of every question that has its clean twin and both levels of a type: the changes of its score in both steps."""
    marks = run.marks.filter(pl.col("outcome").is_in(list(run.study.scored_outcomes)))
    scores = (
        marks.with_columns(right=(pl.col("outcome") == "right").cast(pl.Float64))
        .group_by("candidate", "cluster", "case", "question", "of", "type", "severity")
        .agg(pl.col("right").mean())
        .collect()
    )
    clean = scores.filter(severity=CLEAN_LEVEL).select("candidate", "case", original="question", clean="right")
    levels = [
        scores.filter(severity=level)
        .group_by("cluster", "candidate", "case", "type", original="of")
        .agg(pl.col("right").mean().alias(level))
        for level in ("L1", "L2")
    ]
    both = levels[0].join(levels[1].drop("cluster"), on=SAME).join(clean, on=("candidate", "case", "original"))
    first, second = pl.col("L1") - pl.col("clean"), pl.col("L2") - pl.col("L1")
    return both.select(*SAME, "cluster", first=first, second=second, cliff=(second - first) / 2).sort(*SAME)


def _mean_over_candidates(changes: pl.DataFrame) -> pl.DataFrame:
    """The mean change of each question over the candidates that all have it."""
    keys = ("case", "original", "type", "cluster")
    count = changes["candidate"].n_unique()
    means = changes.group_by(*keys).agg(pl.col(*STEPS).mean(), pl.len()).filter(pl.col("len") == count)
    return means.sort(*keys)


def _rows(run: RunFiles, candidate: str, changes: pl.DataFrame) -> list[TableRow]:
    types = changes["type"].unique().sort().to_list()
    by_step = {
        step: {type: CaseValues(own["cluster"], own[step]) for type in types for own in [changes.filter(type=type)]}
        for step in STEPS
    }
    seed = run.study.seed
    cells = {step: group_means(groups, MeasureKind.SIGNED, run.clusters, seed) for step, groups in by_step.items()}
    p_values = sign_flip_p_values(by_step["cliff"], run.clusters, seed)
    rows = []
    for type in types:
        p, adjusted = p_values[type]
        first, second, half = (cells[step][type] for step in STEPS)
        value, low, high = (None if end is None else 2 * end for end in (half.value, half.low, half.high))
        cliff = Cell(value, low, high, half.n)
        is_cliff = adjusted <= ALPHA and half.value is not None and half.value < 0
        named = Cell(text="yes" if is_cliff else "not shown")
        rows.append(
            TableRow((candidate, type.replace("_", " ")), [first, second, cliff, Cell(p), Cell(adjusted), named])
        )
    return rows
