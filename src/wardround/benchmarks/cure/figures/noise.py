"""The noise curve's company: answers that irrelevant abstracts turned, and whether they led them away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from wardround.benchmarks.cure.figures.answers import IMAGES, both, by_case, open_answers
from wardround.benchmarks.engine.group_means import Values, means
from wardround.measuring.engine.measure import Kind
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Column, Row, Table

REFERENCE = "reference"


def noise(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """How many right answers were lost and how many wrong ones gained, with so many irrelevant abstracts mixed in."""
    answers = open_answers(run)
    clusters = sorted(set(answers["cluster"]))
    clean = by_case(answers, IMAGES, REFERENCE)
    asked = [value for value in run.declared["conditions"]["evidence"] if value != REFERENCE]
    rows = []
    for candidate in run.candidates:
        for value in asked:
            met = both(by_case(answers, IMAGES, value), clean).filter(pl.col("candidate") == candidate)
            right, wrong = met.filter(pl.col("right_b") > 0.5), met.filter(pl.col("right_b") <= 0.5)
            lost = 1 - right["right"]
            groups = {
                "lost": Values(right["cluster"], lost),
                "led": Values(right["cluster"], lost * right["grounded"].fill_null(0.0)),
                "gained": Values(wrong["cluster"], wrong["right"]),
            }
            found = means(groups, Kind.RATE, clusters, run.as_study.seed)
            rows.append(Row((candidate, value.removeprefix("reference+")), list(found.values())))
    columns = [
        Column("Lost", "Of those right with references alone"),
        Column("Led away", "Of those right with references alone"),
        Column("Gained", "Of those wrong"),
    ]
    notes = [
        "Led away: lost, and the diagnosis that was named instead stands in the documents. Gained is what chance and "
        "another order of documents do as well; lost beyond it is the noise.",
    ]
    labels = ("Candidate", "Irrelevant abstracts")
    return [Table("Answers that noise turned", labels, columns, rows, notes)], []
