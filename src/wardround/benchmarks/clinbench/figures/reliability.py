"""Figure 5: worst@k for every k from 1 to the number of trials, and the share of the accuracy that is kept."""

import json
from collections.abc import Iterator
from math import comb
from pathlib import Path

import numpy as np
import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import rate_cell, resampled_cell
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.engine.bootstrap import SumBlock, resampled_sums
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.figures.table_figure import figure
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

KEPT = "Kept"
NOTES = [
    "worst@k: the share of questions right in all of k answers, averaged over all choices of k answers. worst@1 is the "
    "accuracy.",
    "Kept: the last worst@k divided by the first. A candidate that always gives the same answer keeps all of it.",
]


def fig5(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """One row for each candidate with reasoning on and off."""
    trials = run.study.trials
    rows = [TableRow(labels, cells) for labels, cells in _rows(run, trials)]
    if trials < 2 or not rows:
        note("worst@k needs two or more answers to each question")
        return [], []
    columns = [*(Column(str(k)) for k in range(1, trials + 1)), Column(KEPT)]
    table = Table("worst@k for every k", ("Candidate", "Reasoning"), columns, rows, NOTES)
    chart = figure(table, "line", x="k", y="worst@k (%)", leave_out=[KEPT])
    return [table], write_chart(chart, folder, "worst", note)


def _rows(run: RunFiles, trials: int) -> Iterator[tuple[tuple[str, str], list[Cell]]]:
    marks = run.marks.filter(pl.col("kind") == "choice", pl.col("outcome").is_in(run.study.scored_outcomes))
    items = (
        marks.group_by("candidate", "condition", "cluster", "case", "question")
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .filter(pl.col("asked") == trials)
        .sort("candidate", "condition", "cluster", "case", "question")
        .collect()
    )
    clusters = sorted(set(marks.select("cluster").collect()["cluster"]))
    cluster_index = {cluster: index for index, cluster in enumerate(clusters)}
    all_right = [[comb(right, k) / comb(trials, k) for right in range(trials + 1)] for k in range(1, trials + 1)]
    chance_by_right = exact(np.array(all_right))
    keys, parts = [], []
    for (candidate, condition), rows in items.group_by("candidate", "condition", maintain_order=True):
        keys.append((str(candidate), str(json.loads(str(condition)).get("reasoning", "as-is"))))
        indices = np.array([cluster_index[name] for name in rows["cluster"]], dtype=np.int64)
        sums = np.vstack([chance_by_right[:, rows["right"].to_numpy()], np.ones(len(rows))])
        present, positions = np.unique(indices, return_inverse=True)
        parts.append(SumBlock(present, np.array([np.bincount(positions, part, len(present)) for part in sums])))
    cells_by_key = {
        keys[index]: _cells(parts[index].sums, resampled.all_rows())
        for index, resampled in resampled_sums(parts, len(clusters), run.study.seed)
    }
    order = sorted(keys, key=lambda key: (run.candidates.index(key[0]), key[1] != "on"))
    yield from ((key, cells_by_key[key]) for key in order)


def _cells(sums: Floats, resampled: Floats) -> list[Cell]:
    """worst@k for every k, and the last divided by the first."""
    *worst, asked = sums
    pairs = zip(worst, resampled[:-1], strict=True)
    cells = [rate_cell(part, asked, ratio(values, resampled[-1])) for part, values in pairs]
    totals = np.column_stack([sums.sum(axis=1), resampled])
    return [*cells, resampled_cell(ratio(totals[-2], totals[0]), int(asked.sum()), len(asked))]
