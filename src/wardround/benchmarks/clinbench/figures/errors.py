"""Answers that are not right, by the class of error that a judge assigned."""

from pathlib import Path

import polars as pl

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.marking.judges.error_classes import CLASSES
from wardround.measuring.measures.error_shares import error_shares
from wardround.measuring.validation.error_validation import error_judge_note
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

TITLE = "Wrong answers by kind of error"
NAMES = [name.replace("_", " ").title() for name in CLASSES]


def table9(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Answers that are not right, by class of error, and each class's share of the classified ones."""
    outcomes = [outcome for outcome in run.study.scored_outcomes if outcome != "right"]
    columns_read = ("candidate", "cluster", "error_class", "has_reasoning")
    wrong = run.marks.filter(pl.col("outcome").is_in(outcomes)).select(columns_read).collect()
    counts, shares = [], []
    for candidate in run.candidates:
        own_wrong = wrong.filter(pl.col("candidate") == candidate)
        share_by_class = error_shares(own_wrong, CLASSES, run.study.seed)
        unreasoned = own_wrong.filter(~pl.col("has_reasoning")).height
        classified = [share.count for share in share_by_class.values()]
        row_counts = [*classified, own_wrong.height - sum(classified), own_wrong.height, unreasoned]
        shares_row = [Cell(share.value, share.low, share.high, own_wrong.height) for share in share_by_class.values()]
        counts.append(TableRow((candidate,), [Cell(count) for count in row_counts]))
        shares.append(TableRow((candidate,), shares_row))
    columns = [*NAMES, "No class", "Not right", "Without reasoning"]
    judge_note = error_judge_note(run.folder)
    sum_note = (
        "The five kinds and No class add up to Not right: all answers but the right ones, as in the paper. "
        "No class: the judge named no single kind when asked twice, or the question was refused. "
        "Without reasoning: of those not right, judged by the answer alone."
    )
    return [
        Table(TITLE, ("Candidate",), [Column(name, unit="count") for name in columns], counts, [sum_note, judge_note]),
        Table(
            "Share of each kind among the errors that have one",
            ("Candidate",),
            [Column(name) for name in NAMES],
            shares,
            ["Brackets are 95% intervals over clusters of cases.", judge_note],
        ),
    ], []
