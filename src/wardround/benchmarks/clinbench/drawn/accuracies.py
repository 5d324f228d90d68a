"""Accuracy of candidates in groups of cases, resampled together with every other figure of the run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.bootstrap import Part, percentile_interval, resampled_sums
from wardround.measuring.exact import Floats
from wardround.measuring.formulas import ratio
from wardround.measuring.intervals import FEWEST
from wardround.reporting.run import RunFolder
from wardround.reporting.table import Cell

SCORED = ("right", "wrong", "unparsed")


class Group(NamedTuple):
    """Right and asked of one candidate in one group: their totals, and those of every resample."""

    right: Floats  # the total first, then the resamples
    asked: Floats
    clusters: int

    @property
    def accuracies(self) -> Floats:
        return ratio(self.right, self.asked)

    @property
    def cell(self) -> Cell:
        return cell(self.accuracies, int(self.asked[0]), self.clusters)


def cell(values: Floats, n: int, clusters: int) -> Cell:
    """A figure (the first of these) with the interval of its resamples; none for fewer than 8 clusters."""
    if not n:
        return Cell(said="no cases", n=0)
    low, high = percentile_interval(values[1:]) if clusters >= FEWEST else (None, None)
    return Cell(float(values[0]), low, high, n, clusters)


def grouped(run: RunFolder, group: pl.Expr) -> dict[tuple[str, str], Group]:
    """By candidate and group: `group` names the group of a mark. The resamples are those of measures.csv."""
    marks = (
        run.marks.filter(pl.col("kind") == "choice", pl.col("outcome").is_in(SCORED))
        .group_by("candidate", "cluster", group=group)
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .sort("candidate", "group", "cluster")
        .collect()
    )
    clusters = {
        name: place for place, name in enumerate(sorted(set(run.marks.select("cluster").unique().collect()["cluster"])))
    }
    keys, parts = [], []
    for (candidate, name), own in marks.drop_nulls("group").group_by("candidate", "group", maintain_order=True):
        keys.append((str(candidate), str(name)))
        cluster = np.array([clusters[each] for each in own["cluster"]], dtype=np.int64)
        parts.append(Part(cluster, own.select("right", "asked").to_numpy().T.astype(np.float64)))
    found: dict[tuple[str, str], Group] = {}
    for number, drawn in resampled_sums(parts, len(clusters), run.as_study.seed):
        both = np.column_stack([parts[number].sums.sum(axis=1), drawn.all()])
        found[keys[number]] = Group(both[0], both[1], len(parts[number].cluster))
    return found
