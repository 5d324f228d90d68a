"""Figure 5: worst@k for every k from 1 to the number of trials, drawn; and how much of the accuracy is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import comb
from pathlib import Path

import numpy as np
import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import SCORED, cell, rate_cell
from wardround.core.errors import WardroundError
from wardround.measuring.engine.bootstrap import Part, resampled_sums
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.figures.table_figure import figure, write_figure
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

KEPT = "Kept"
NOTES = [
    "worst@k: right in all of k answers, the mean over all draws of k of its answers. worst@1 is the accuracy.",
    "Kept: the last over the first. A candidate that always gives the same answer keeps all of it.",
]


def fig5(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """One row for each candidate with reasoning on and off."""
    trials = run.as_study.trials
    rows = [Row(labels, cells) for labels, cells in _rows(run, trials)]
    if trials < 2 or not rows:
        note("worst@k needs two or more answers to each question")
        return [], []
    columns = [*(Column(str(k)) for k in range(1, trials + 1)), Column(KEPT)]
    table = Table("worst@k for every k", ("Candidate", "Reasoning"), columns, rows, NOTES)
    chart = figure(table, "line", x="k", y="worst@k (%)", leave_out=[KEPT])
    try:
        return [table], write_figure(chart, folder, "worst") if chart is not None else []
    except WardroundError as error:
        note(str(error))
        return [table], []


def _rows(run: RunFolder, trials: int) -> Iterator[tuple[tuple[str, str], list[Cell]]]:
    marks = run.marks.filter(pl.col("kind") == "choice", pl.col("outcome").is_in(SCORED))
    items = (
        marks.group_by("candidate", "condition", "cluster", "case", "question")
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .filter(pl.col("asked") == trials)
        .sort("candidate", "condition", "cluster", "case", "question")
        .collect()
    )
    clusters = {name: place for place, name in enumerate(sorted(set(marks.select("cluster").collect()["cluster"])))}
    chances = exact(np.array([[comb(c, k) / comb(trials, k) for c in range(trials + 1)] for k in range(1, trials + 1)]))
    keys, parts = [], []
    for (candidate, condition), own in items.group_by("candidate", "condition", maintain_order=True):
        keys.append((str(candidate), str(json.loads(str(condition)).get("reasoning", "as-is"))))
        at = np.array([clusters[name] for name in own["cluster"]], dtype=np.int64)
        sums = np.vstack([chances[:, own["right"].to_numpy()], np.ones(len(own))])
        there, place = np.unique(at, return_inverse=True)
        parts.append(Part(there, np.array([np.bincount(place, row, len(there)) for row in sums])))
    found = {
        keys[number]: _cells(parts[number].sums, drawn.all())
        for number, drawn in resampled_sums(parts, len(clusters), run.as_study.seed)
    }
    order = sorted(keys, key=lambda key: (run.candidates.index(key[0]), key[1] != "on"))
    yield from ((key, found[key]) for key in order)


def _cells(sums: Floats, drawn: Floats) -> list[Cell]:
    """worst@k of every k, and the last over the first."""
    *worst, asked = sums
    cells = [rate_cell(part, asked, ratio(values, drawn[-1])) for part, values in zip(worst, drawn, strict=False)]
    totals = np.column_stack([sums.sum(axis=1), drawn])
    return [*cells, cell(ratio(totals[-2], totals[0]), int(asked.sum()), len(asked))]
