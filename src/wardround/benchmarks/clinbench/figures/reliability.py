"""Figure 5: worst@k for every k from 1 to the number of trials, by question and by run.

By question: right in all of k answers. By run: the accuracy of the worst of k runs, a run being one trial of all
questions. The paper does not say which it means.
"""

import json
from collections.abc import Iterator
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import resampled_cell
from wardround.benchmarks.engine.group_means import mean_cell
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.core.condition import DEFAULTS
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.resampling.bootstrap import SumBlock, resampled_sums
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.figures.table_figure import figure
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

KEPT = "Kept"
VARIED = ("prompt", "reasoning")  # axes by which reasoning is switched; a study varies one of them
KEPT_NOTE = "Kept: the last worst@k divided by the first. A candidate that always answers the same keeps all of it."
NOTES = [
    "worst@k: the share of questions right in all of k answers, averaged over all choices of k answers. worst@1 is the "
    "accuracy.",
    KEPT_NOTE,
]
NOTES_BY_RUN = [
    "worst@k by run: the accuracy of the worst of k runs over all questions, averaged over all choices of k runs. It "
    "falls far less than by question, because a run's errors are spread over other questions than the next one's.",
    KEPT_NOTE,
]


class WorstCells(NamedTuple):
    """One candidate with one setting of reasoning: worst@k for every k, and what is kept."""

    by_question: list[Cell]
    by_run: list[Cell]


def fig5(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """One row for each candidate with and without reasoning, by question and by run."""
    trials = run.study.trials
    axis = next((name for name in VARIED if name in run.varied_axes), VARIED[-1])
    labels = ("Candidate", axis.capitalize())
    cells_by_row = dict(_rows(run, trials, axis))
    if trials < 2 or not cells_by_row:
        note("worst@k needs two or more answers to each question")
        return [], []
    columns = [*(Column(str(k)) for k in range(1, trials + 1)), Column(KEPT)]
    by_question = [TableRow(names, cells.by_question) for names, cells in cells_by_row.items()]
    by_run = [TableRow(names, cells.by_run) for names, cells in cells_by_row.items()]
    tables = [
        Table("worst@k for every k", labels, columns, by_question, NOTES),
        Table("worst@k by run", labels, columns, by_run, NOTES_BY_RUN),
    ]
    files = []
    for table, stem in zip(tables, ("worst", "worst-by-run"), strict=True):
        chart = figure(table, "line", x="k", y="worst@k (%)", leave_out=[KEPT])
        files += write_chart(chart, folder, stem, note)
    return tables, files


def _rows(run: RunFiles, trials: int, axis: str) -> Iterator[tuple[tuple[str, str], WorstCells]]:
    marks = run.marks.filter(pl.col("kind") == "choice", pl.col("outcome").is_in(run.study.scored_outcomes))
    items = (
        marks.group_by("candidate", "condition", "cluster", "case", "question")
        .agg((pl.col("outcome") == "right").sort_by("trial").alias("right"))
        .filter(pl.col("right").list.len() == trials)
        .sort("candidate", "condition", "cluster", "case", "question")
        .collect()
    )
    cluster_index = {cluster: index for index, cluster in enumerate(run.clusters)}
    keys, parts = [], []
    for (candidate, condition), rows in items.group_by("candidate", "condition", maintain_order=True):
        keys.append((str(candidate), str(json.loads(str(condition)).get(axis, DEFAULTS[axis]))))
        indices = np.array([cluster_index[name] for name in rows["cluster"]], dtype=np.int64)
        parts.append(_sums_by_cluster(indices, np.array(rows["right"].to_list(), dtype=np.float64).T))
    cells_by_key = {
        keys[index]: _cells(parts[index], resampled.all_rows(), len(cluster_index), run.study.seed)
        for index, resampled in resampled_sums(parts, len(cluster_index), run.study.seed)
    }
    values = run.declared_values(axis)
    order = sorted(keys, key=lambda key: (run.candidates.index(key[0]), values.index(key[1])))
    yield from ((key, cells_by_key[key]) for key in order)


def _sums_by_cluster(clusters: Integers, right: Floats) -> SumBlock:
    """By cluster: questions right in all of k answers, for every k; those right in each trial; and all questions."""
    trials = len(right)
    all_right = [[comb(count, k) / comb(trials, k) for count in range(trials + 1)] for k in range(1, trials + 1)]
    worst = exact(np.array(all_right))[:, right.sum(axis=0).astype(np.int64)]
    present, positions = np.unique(clusters, return_inverse=True)
    rows = [*worst, *right, np.ones(right.shape[1])]
    return SumBlock(present, np.array([np.bincount(positions, row, len(present)) for row in rows]))


def _cells(part: SumBlock, resampled: Floats, clusters: int, seed: int) -> WorstCells:
    trials = len(part.sums) // 2
    asked, present = part.sums[-1], len(part.cluster)
    by_question = [
        mean_cell(part.cluster, np.vstack([row, asked]), MeasureKind.RATE, clusters, seed) for row in part.sums[:trials]
    ]
    totals = np.column_stack([part.sums.sum(axis=1), resampled])
    n, runs = int(asked.sum()), worst_of_runs(ratio(totals[trials:-1], totals[-1]))
    kept = resampled_cell(ratio(totals[trials - 1], totals[0]), n, present)
    kept_by_run = resampled_cell(ratio(runs[-1], runs[0]), n, present)
    by_run = [by_question[0], *(resampled_cell(row, n, present) for row in runs[1:])]  # the worst of one: the accuracy
    return WorstCells([*by_question, kept], [*by_run, kept_by_run])


def worst_of_runs(accuracies: Floats) -> Floats:
    """For every k the lowest of k accuracies (the rows), averaged over all choices of k of them."""
    trials = len(accuracies)
    weights = np.array(
        [[comb(trials - 1 - place, k - 1) / comb(trials, k) for place in range(trials)] for k in range(1, trials + 1)]
    )
    lowest_first: Floats = weights @ np.sort(accuracies, axis=0)
    return lowest_first
