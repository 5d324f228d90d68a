"""Means over groups of cases that measures.csv does not have, with the same intervals as its figures."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from wardround.measuring.comparing.signflip import SignFlipTest, sign_flip
from wardround.measuring.engine.estimate import estimate_measures
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.sums import ClusterSums, Integers
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.absence import NOT_ASKED
from wardround.reporting.tables.table import Cell

Key = TypeVar("Key")


class CaseValues(NamedTuple):
    """The values that are averaged: one for each case, with its cluster."""

    cluster: pl.Series
    value: pl.Series

    def by_cluster(self, clusters: Sequence[str]) -> tuple[Integers, Floats]:
        """The clusters that have values, and the sum and number of values in each."""
        index_by_name = {name: index for index, name in enumerate(clusters)}
        indices = np.array([index_by_name[name] for name in self.cluster], dtype=np.int64)
        sums = np.zeros((2, len(clusters)))
        np.add.at(sums[0], indices, exact(self.value.cast(pl.Float64).to_numpy()))
        np.add.at(sums[1], indices, 1.0)
        present = np.flatnonzero(sums[1])
        return present, sums[:, present]


def group_means(
    groups: Mapping[Key, CaseValues], kind: MeasureKind, clusters: Sequence[str], seed: int
) -> dict[Key, Cell]:
    """The mean of each group; `kind` decides the interval: of rates, of differences, or of other values in [0, 1]."""
    return {
        key: mean_cell(*values.by_cluster(clusters), kind, len(clusters), seed)
        if len(values.value)
        else Cell(text=NOT_ASKED, n=0)
        for key, values in groups.items()
    }


def mean_cell(present: Integers, sums: Floats, kind: MeasureKind, clusters: int, seed: int) -> Cell:
    """A part over a whole (the two rows of sums, by cluster present), with the interval that measures.csv gives it.

    `clusters` is the number of clusters of the study.
    """
    measure = Measure(name="mean", formula=ratio, sums=("part", "whole"), kind=kind, n="whole", group="asked")
    rows = np.vstack([sums, np.zeros(len(present))])
    row_by_sum = {"part": 0, "whole": 1, "scored_asked": 1, "scorable_asked": 1}
    row_by_sum |= {"unparsed_asked": 2, "refused_asked": 2}
    zero = np.zeros(1, np.int64)
    (figure,) = estimate_measures([measure], ClusterSums(row_by_sum, zero, zero, zero, present, rows), clusters, seed)
    low, high = (None if np.isnan(end[0]) else float(end[0]) for end in (figure.low, figure.high))
    return Cell(float(figure.value[0]), low, high, int(figure.n[0]), len(present))


def mean_value(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if len(values) else None


def sign_flip_p_values(
    groups: Mapping[Key, CaseValues], clusters: Sequence[str], seed: int
) -> dict[Key, tuple[float, float]]:
    """p of the paired differences of each group, unadjusted and adjusted for all groups: one family."""
    filled = {key: values for key, values in groups.items() if len(values.value)}
    if not filled:
        return {}
    matrix = np.zeros((len(clusters), len(filled)))
    for column, values in enumerate(filled.values()):
        present, sums = values.by_cluster(clusters)
        matrix[present, column] = sums[0]
    test: SignFlipTest = sign_flip(matrix, seed)
    return {key: (float(test.p[column]), float(test.p_adjusted[column])) for column, key in enumerate(filled)}
