"""Means over cases with the intervals that every figure has (measuring), for groups that measures.csv does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from wardround.measuring.comparing.signflip import Tested, sign_flip
from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import ClusterSums, Whole
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.tables.table import Cell

Key = TypeVar("Key")


class Values(NamedTuple):
    """What a mean is taken of: a value for each case, and the cluster of each."""

    cluster: pl.Series
    value: pl.Series

    def by_cluster(self, clusters: Sequence[str]) -> tuple[Whole, Floats]:
        """Which clusters they are in, and in each of these their sum and their number."""
        place = {name: number for number, name in enumerate(clusters)}
        at = np.array([place[name] for name in self.cluster], dtype=np.int64)
        sums = np.zeros((2, len(clusters)))
        np.add.at(sums[0], at, exact(self.value.cast(pl.Float64).to_numpy()))
        np.add.at(sums[1], at, 1.0)
        there = np.flatnonzero(sums[1])
        return there, sums[:, there]


def means(groups: Mapping[Key, Values], kind: Kind, clusters: Sequence[str], seed: int) -> dict[Key, Cell]:
    """The mean of each group; `kind` decides the interval: of rates, of differences, or of others in [0, 1]."""
    found: dict[Key, Cell] = {}
    measure = Measure(name="mean", value=ratio, sums=("part", "whole"), kind=kind, n="whole", about="asked")
    for key, values in groups.items():
        if not len(values.value):
            found[key] = Cell(said="no cases", n=0)
            continue
        there, sums = values.by_cluster(clusters)
        rows = np.vstack([sums, np.zeros(len(there))])
        place = {"part": 0, "whole": 1, "scored_asked": 1, "unparsed_asked": 2}
        zero = np.zeros(1, np.int64)
        (figure,) = figured([measure], ClusterSums(place, zero, zero, zero, there, rows), len(clusters), seed)
        low, high = (None if np.isnan(end[0]) else float(end[0]) for end in (figure.low, figure.high))
        found[key] = Cell(float(figure.value[0]), low, high, len(values.value), len(there))
    return found


def tested(groups: Mapping[Key, Values], clusters: Sequence[str], seed: int) -> dict[Key, tuple[float, float]]:
    """Of paired differences p, alone and adjusted for all of them: one family."""
    filled = {key: values for key, values in groups.items() if len(values.value)}
    if not filled:
        return {}
    matrix = np.zeros((len(clusters), len(filled)))
    for column, values in enumerate(filled.values()):
        there, sums = values.by_cluster(clusters)
        matrix[there, column] = sums[0]
    found: Tested = sign_flip(matrix, seed)
    return {key: (float(found.p[place]), float(found.p_adjusted[place])) for place, key in enumerate(filled)}
