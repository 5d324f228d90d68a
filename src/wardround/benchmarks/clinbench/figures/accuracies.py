"""Accuracy of candidates in groups of cases, with the resamples of measures.csv."""

from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.benchmarks.engine.group_means import mean_cell
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measure import MeasureKind
from wardround.measuring.engine.resampling.bootstrap import SumBlock, resampled_sums
from wardround.measuring.engine.resampling.percentiles import percentile_interval
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell


class GroupAccuracy(NamedTuple):
    """Right answers and answers of one candidate in one group: by cluster, by resample, and their ratio as printed."""

    sums: Floats
    resampled: Floats
    cell: Cell

    @property
    def asked(self) -> int:
        return int(self.sums[1].sum())

    @property
    def clusters(self) -> int:
        return int(self.sums.shape[1])

    @property
    def accuracies(self) -> Floats:
        """The accuracy on all cases, then those of the resamples."""
        return ratio(*np.column_stack([self.sums.sum(axis=1), self.resampled]))


def pooled_accuracies(*groups: GroupAccuracy) -> Floats:
    """The accuracy over all groups together, then those of the resamples."""
    sums = [np.column_stack([group.sums.sum(axis=1), group.resampled]) for group in groups]
    return ratio(*np.sum(sums, axis=0))


def resampled_cell(values: Floats, n: int, clusters: int) -> Cell:
    """The first value with the interval of the others, its resamples; no interval for fewer than 8 clusters."""
    low, high = percentile_interval(values[1:]) if clusters >= FEWEST else (None, None)
    return Cell(float(values[0]), low, high, n, clusters)


def accuracy_by_group(run: RunFiles, group: pl.Expr) -> dict[tuple[str, str], GroupAccuracy]:
    """Accuracies by candidate and group; `group` gives the group of a mark."""
    marks = (
        run.marks.filter(pl.col("kind") == "choice", pl.col("outcome").is_in(run.study.scored_outcomes))
        .group_by("candidate", "cluster", group=group)
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .sort("candidate", "group", "cluster")
        .collect()
    )
    cluster_index = {cluster: index for index, cluster in enumerate(run.clusters)}
    keys, parts = [], []
    for (candidate, name), rows in marks.drop_nulls("group").group_by("candidate", "group", maintain_order=True):
        keys.append((str(candidate), str(name)))
        indices = np.array([cluster_index[label] for label in rows["cluster"]], dtype=np.int64)
        parts.append(SumBlock(indices, rows.select("right", "asked").to_numpy().T.astype(np.float64)))
    resampled = resampled_sums(parts, len(cluster_index), run.study.seed)
    accuracies = {}
    for index, sums in resampled:
        part = parts[index]
        cell = mean_cell(*part, MeasureKind.RATE, len(cluster_index), run.study.seed)
        accuracies[keys[index]] = GroupAccuracy(part.sums, sums.all_rows(), cell)
    return accuracies
