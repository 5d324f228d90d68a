"""Wrong answers by the kind of error that a judge named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from wardround.marking.judges.error_classes import CLASSES, NO_REASONING
from wardround.measuring.measures.error_shares import error_shares
from wardround.measuring.validation.error_validation import error_judge_note
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

TITLE = "Wrong answers by kind of error"
NAMES = [name.replace("_", " ").title() for name in CLASSES]


def table9(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """How many wrong answers have each kind of error, and its share of those that have one."""
    wrong = run.marks.filter(pl.col("outcome") == "wrong").select("candidate", "cluster", "error_class").collect()
    counts, shares = [], []
    for candidate in run.candidates:
        own = wrong.filter(pl.col("candidate") == candidate)
        found = error_shares(own, CLASSES, run.as_study.seed)
        unreasoned = own.filter(pl.col("error_class") == NO_REASONING).height
        unnamed = own.height - unreasoned - sum(each.count for each in found.values())
        told = [*(each.count for each in found.values()), unreasoned, unnamed, own.height]
        counts.append(Row((candidate,), [Cell(value) for value in told]))
        shares.append(Row((candidate,), [Cell(each.value, each.low, each.high, own.height) for each in found.values()]))
    columns = [*NAMES, "No reasoning", "No class", "Wrong answers"]
    trust = error_judge_note(run.folder)
    return [
        Table(TITLE, ("Candidate",), [Column(name, unit="count") for name in columns], counts, [trust]),
        Table(
            "Share of each kind among the errors that have one",
            ("Candidate",),
            [Column(name) for name in NAMES],
            shares,
            ["Brackets are 95% intervals over clusters of cases.", trust],
        ),
    ], []
