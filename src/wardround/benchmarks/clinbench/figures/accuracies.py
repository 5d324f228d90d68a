"""Accuracy of candidates in groups of cases, resampled together with every other figure of the run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.engine.bootstrap import Part, percentile_interval, resampled_sums
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST, rate_interval
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell

SCORED = ("right", "wrong", "unparsed")


class Group(NamedTuple):
    """Right and asked of one candidate in one group: of every cluster, and of every resample."""

    sums: Floats
    drawn: Floats

    @property
    def asked(self) -> int:
        return int(self.sums[1].sum())

    @property
    def clusters(self) -> int:
        return self.sums.shape[1]

    @property
    def accuracies(self) -> Floats:
        """That of all cases first, then those of the resamples."""
        return ratio(*np.column_stack([self.sums.sum(axis=1), self.drawn]))

    @property
    def cell(self) -> Cell:
        return rate_cell(*self.sums, self.accuracies[1:])


def rate_cell(part: Floats, whole: Floats, drawn: Floats) -> Cell:
    """A rate with the interval that measures.csv would give it."""
    return Cell(float(part.sum() / whole.sum()), *rate_interval(part, whole, drawn), int(whole.sum()), len(whole))


def cell(values: Floats, n: int, clusters: int) -> Cell:
    """A figure (the first of these) with the interval of its resamples; none for fewer than 8 clusters."""
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
    every = resampled_sums(parts, len(clusters), run.as_study.seed)
    return {keys[number]: Group(parts[number].sums, drawn.all()) for number, drawn in every}
