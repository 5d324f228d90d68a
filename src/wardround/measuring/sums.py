"""Sums over clusters: all that intervals and tests need to know of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wardround.measuring.exact import Floats

Whole = NDArray[np.int64]


def added(place: Whole, values: NDArray[Any], many: int) -> Floats:
    """Values added up by place, of which there are so many."""
    return np.bincount(place, weights=values, minlength=many).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Placed:
    """Items in the slices of one slicing: which row of sums (slice, candidate, cluster) each adds to.

    An item in several slices is there several times.
    """

    item: Whole
    row: Whole
    slice: Whole  # of each cell (a slice of one candidate)
    candidate: Whole  # of each cell
    starts: Whole  # the first row of each cell
    cluster: Whole  # of each row

    @property
    def cell(self) -> Whole:
        """Of each row."""
        return np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.cluster))))


@dataclass(frozen=True)
class ClusterSums:
    """One row per cluster of each cell (a slice of one candidate), cell after cell."""

    names: tuple[str, ...]
    slice: Whole  # of each cell
    candidate: Whole  # of each cell
    starts: Whole  # the first row of each cell
    cluster: Whole  # of each row
    rows: Floats  # rows x names

    @property
    def cells(self) -> int:
        return len(self.starts)

    @property
    def ends(self) -> Whole:
        """The first row of each cell, and the end of the last one."""
        return np.append(self.starts, len(self.cluster))

    @cached_property
    def place(self) -> dict[str, int]:
        """The column of each sum."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def totals(self) -> Floats:
        """Every sum in every cell (names x cells)."""
        if not self.cells:
            return np.zeros((len(self.names), 0))
        return np.ascontiguousarray(np.add.reduceat(self.rows, self.starts, axis=0).T)

    @cached_property
    def clusters(self) -> Floats:
        """For every sum the clusters of every cell in which it is above zero (names x cells)."""
        if not self.cells:
            return np.zeros((len(self.names), 0))
        return np.ascontiguousarray(
            np.add.reduceat((self.rows > 0).astype(np.float32), self.starts, axis=0).T, np.float64
        )

    def cell_total(self, name: str) -> Floats:
        """One sum in every cell."""
        found: Floats = self.totals[self.place[name]]
        return found

    def row(self, name: str) -> Floats:
        """One sum in every row."""
        column: Floats = self.rows[:, self.place[name]]
        return column

    def total(self, values: Floats) -> Floats:
        """A value of each row added up in each cell, in the order of the rows."""
        if not self.cells:
            return np.zeros(0)
        totals: Floats = np.add.reduceat(values, self.starts)
        return totals

    def spread(self, values: Floats) -> Floats:
        """A value of each cell given to each of its rows."""
        return np.repeat(values, np.diff(self.ends))


def placed(index: pl.DataFrame, item: Whole, slice: Whole) -> Placed:
    """Where items go that are in these slices."""
    candidate, cluster = (index[name].cast(pl.Int64).to_numpy()[item] for name in ("candidate", "cluster"))
    clusters = int(cluster.max(initial=0)) + 1
    candidates = int(candidate.max(initial=0)) + 1
    code, row = np.unique((slice * candidates + candidate) * clusters + cluster, return_inverse=True)
    cell, cluster = np.divmod(code, clusters)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    return Placed(item, row, cell[starts] // candidates, cell[starts] % candidates, starts, cluster)


def cluster_sums(at: Placed, matrix: Floats, names: Sequence[str], more: dict[str, Floats]) -> ClusterSums:
    """Adds items (a row of the matrix each) up by slice, candidate and cluster; `more` are sums of rows already."""
    rows = len(at.cluster)
    order = np.argsort(at.row, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(at.row, minlength=rows))])
    members = csr_array((np.ones(len(order)), at.item[order], bounds), shape=(rows, len(matrix)))
    added = np.column_stack([members @ matrix, *more.values()]) if more else members @ matrix
    return ClusterSums((*names, *more), at.slice, at.candidate, at.starts, at.cluster, added)
