"""Means over groups of cases that measures.csv does not have, with the same intervals as its figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from wardround.measuring.comparing.pairing import interval_of_few
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
    make_cell = _difference_cell if kind is MeasureKind.SIGNED else partial(mean_cell, kind=kind)
    return {
        key: make_cell(*values.by_cluster(clusters), clusters=len(clusters), seed=seed)
        if len(values.value)
        else Cell(text=NOT_ASKED, n=0)
        for key, values in groups.items()
    }


def _difference_cell(present: Integers, sums: Floats, clusters: int, seed: int) -> Cell:
    """The mean of paired differences: the interval that comparisons.csv gives it, so that it agrees with p."""
    cell = mean_cell(present, sums, MeasureKind.SIGNED, clusters, seed)
    p = float(sign_flip(sums[:1].T, seed).p[0])
    ends = interval_of_few(sums[0], sums[1], cell.value or 0.0, p, seed)
    return cell if ends is None else replace(cell, low=ends[0], high=ends[1])


def mean_cell(present: Integers, sums: Floats, kind: MeasureKind, clusters: int, seed: int) -> Cell:
    """A part over a whole (the two rows of sums, by cluster present), with the interval that measures.csv gives it.

    `clusters` is the number of clusters of the study.
    """
    measure = Measure(name="mean", formula=ratio, sums=("part", "whole"), kind=kind, n="whole", group="asked")
    return _estimate_cell(measure, ("part",), sums, present, clusters, seed)


def _estimate_cell(
    measure: Measure, names: tuple[str, ...], sums: Floats, present: Integers, clusters: int, seed: int
) -> Cell:
    """One measure of sums by cluster: the rows of `names`, then that of all answers."""
    rows = np.vstack([sums, np.zeros(len(present))])
    last = len(names)
    row_by_sum = {name: row for row, name in enumerate(names)}
    row_by_sum |= dict.fromkeys(("whole", "all", "scored_asked", "scorable_asked"), last)
    row_by_sum |= dict.fromkeys(("unparsed_asked", "refused_asked"), last + 1)
    zero = np.zeros(1, np.int64)
    (figure,) = estimate_measures([measure], ClusterSums(row_by_sum, zero, zero, zero, present, rows), clusters, seed)
    low, high = (None if np.isnan(end[0]) else float(end[0]) for end in (figure.low, figure.high))
    return Cell(float(figure.value[0]), low, high, int(figure.n[0]), len(present))


def combined_cell(
    groups: Sequence[CaseValues],
    formula: Callable[..., Floats],
    clusters: Sequence[str],
    seed: int,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Cell:
    """A function of the means of several groups, such as their difference; their clusters are resampled together."""
    if not groups or not all(len(values.value) for values in groups):
        return Cell(text=NOT_ASKED, n=0)
    sums = np.zeros((2 * len(groups), len(clusters)))
    for number, values in enumerate(groups):
        present, own_sums = values.by_cluster(clusters)
        sums[2 * number : 2 * number + 2, present] = own_sums
    whole = sums[1::2].sum(axis=0)
    present = np.flatnonzero(whole)
    names = tuple(f"{name}:{number}" for number in range(len(groups)) for name in ("part", "whole"))
    measure = Measure(
        name="combined",
        formula=lambda *totals: formula(*(ratio(*totals[place : place + 2]) for place in range(0, len(totals), 2))),
        sums=names,
        kind=MeasureKind.COMPOSITE,
        n="all",
        bounds=bounds,
    )
    return _estimate_cell(measure, names, np.vstack([sums, whole])[:, present], present, len(clusters), seed)


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
