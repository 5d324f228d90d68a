"""Sums over clusters: all that intervals and tests need to know of the items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array

from wardround.measuring.engine.exact import Floats

Whole = NDArray[np.int64]
MOST_COUNTED = 50  # times as many codes as there are: beyond it sorting takes less


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
    """One entry per cluster of each cell (a slice of one candidate), cell after cell; equal sums are there once."""

    place: dict[str, int]  # in which row each sum is
    slice: Whole  # of each cell
    candidate: Whole  # of each cell
    starts: Whole  # the first entry of each cell
    cluster: Whole  # of each entry
    rows: Floats  # sums x entries

    @property
    def cells(self) -> int:
        return len(self.starts)

    @cached_property
    def ends(self) -> Whole:
        """The first entry of each cell, and the end of the last one."""
        return np.append(self.starts, len(self.cluster))

    @cached_property
    def _totals(self) -> Floats:
        return self.total(self.rows)

    @cached_property
    def _clusters(self) -> dict[int, Floats]:
        return {}

    def cell_total(self, name: str) -> Floats:
        """One sum in every cell."""
        found: Floats = self._totals[self.place[name]]
        return found

    def clusters(self, name: str) -> Floats:
        """The clusters of every cell in which a sum is above zero."""
        place = self.place[name]
        if place not in self._clusters:
            self._clusters[place] = self.total((self.rows[place] > 0).astype(np.float64))
        return self._clusters[place]

    def row(self, name: str) -> Floats:
        """One sum in every entry."""
        found: Floats = self.rows[self.place[name]]
        return found

    def total(self, values: Floats) -> Floats:
        """A value of each entry added up in each cell, in the order of the entries."""
        if not self.cells:
            return np.zeros((*values.shape[:-1], 0))
        totals: Floats = np.add.reduceat(values, self.starts, axis=-1)
        return totals

    def spread(self, values: Floats) -> Floats:
        """A value of each cell given to each of its entries."""
        return np.repeat(values, np.diff(self.ends))


def placed(index: pl.DataFrame, item: Whole, slice: Whole) -> Placed:
    """Where items go that are in these slices."""
    candidate, cluster = (index[name].cast(pl.Int64).to_numpy()[item] for name in ("candidate", "cluster"))
    clusters = int(cluster.max(initial=0)) + 1
    candidates = int(candidate.max(initial=0)) + 1
    code, row = distinct((slice * candidates + candidate) * clusters + cluster)
    cell, cluster = np.divmod(code, clusters)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    return Placed(item, row, cell[starts] // candidates, cell[starts] % candidates, starts, cluster)


def distinct(codes: Whole) -> tuple[Whole, Whole]:
    """The codes that occur, sorted, and which of them each is."""
    many = int(codes.max(initial=-1)) + 1
    if many > MOST_COUNTED * max(1, len(codes)):
        return np.unique(codes, return_inverse=True)
    there = np.zeros(many, bool)
    there[codes] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def cluster_sums(
    at: Placed, columns: Mapping[str, Floats], more: Mapping[str, Floats] = MappingProxyType({})
) -> ClusterSums:
    """Adds columns of items up by slice, candidate and cluster; `more` are sums of entries already.

    Columns that are one and the same array are added up once.
    """
    entries, place = len(at.cluster), dict[str, int]()
    where = at.row.astype(np.int32), at.item.astype(np.int32)
    found: dict[int, tuple[int, Floats]] = {}
    for name, column in columns.items():
        place[name], _ = found.setdefault(id(column), (len(found), column))
    rows = np.empty((len(found) + len(more), entries))
    items = max((len(column) for _, column in found.values()), default=0)
    members = coo_array((np.ones(len(at.item)), where), shape=(entries, items))
    for number, column in found.values():
        rows[number] = members @ column
    for number, (name, values) in enumerate(more.items(), len(found)):
        place[name], rows[number] = number, values
    return ClusterSums(place, at.slice, at.candidate, at.starts, at.cluster, rows)
