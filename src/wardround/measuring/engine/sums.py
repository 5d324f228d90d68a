"""Sums over clusters: all that intervals and tests need of the items."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats, exact

Integers = NDArray[np.int64]
MAX_CODES_PER_ITEM = 50  # beyond it sorting is faster than counting


def sum_by_index(index: Integers, values: NDArray[Any], size: int) -> Floats:
    """The sum of the values at each index from 0 to size - 1."""
    if uses_loops():
        from wardround.measuring.engine.loops.sums import add_by_index

        return add_by_index(index, np.ascontiguousarray(values), size)
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Placement:
    """Items in the slices of one slicing: the row of sums (slice, candidate, cluster) that each adds to.

    An item in several slices occurs several times.
    """

    item: Integers
    row: Integers
    slice: Integers  # of each cell (a slice of one candidate)
    candidate: Integers  # of each cell
    starts: Integers  # the first row of each cell
    cluster: Integers  # of each row

    @property
    def cell(self) -> Integers:
        """Of each row."""
        return np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.cluster))))


@dataclass(frozen=True)
class ClusterSums:
    """One entry per cluster of each cell (a slice of one candidate), cell after cell; equal sums are stored once."""

    place: dict[str, int]  # the row of each sum
    slice: Integers  # of each cell
    candidate: Integers  # of each cell
    starts: Integers  # the first entry of each cell
    cluster: Integers  # of each entry
    rows: Floats  # sums x entries

    @property
    def cells(self) -> int:
        return len(self.starts)

    @cached_property
    def ends(self) -> Integers:
        """The first entry of each cell, and the end of the last one."""
        return np.append(self.starts, len(self.cluster))

    @cached_property
    def _totals(self) -> Floats:
        return self.total(self.rows)

    @cached_property
    def _clusters(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _effective_clusters(self) -> dict[int, Floats]:
        return {}

    def cell_total(self, name: str) -> Floats:
        """One sum in every cell."""
        totals: Floats = self._totals[self.place[name]]
        return totals

    def clusters(self, name: str) -> Floats:
        """The number of clusters of every cell in which a sum is above zero."""
        place = self.place[name]
        if place not in self._clusters:
            self._clusters[place] = self.total((self.rows[place] > 0).astype(np.float64))
        return self._clusters[place]

    def effective_clusters(self, name: str) -> Floats:
        """The number of equal clusters that those of a cell are worth, by the sum that is the size of each (Kish)."""
        place = self.place[name]
        if place not in self._effective_clusters:
            row = self.rows[place]
            squares = self._product_total(row, row)
            worth = np.divide(self.total(row) ** 2, squares, out=np.zeros(self.cells), where=squares > 0)
            self._effective_clusters[place] = worth
        return self._effective_clusters[place]

    def product(self, first: str, second: str) -> Floats:
        """The sum over the clusters of every cell of the product of two sums."""
        return self._product_total(self.row(first), self.row(second))

    def _product_total(self, first: Floats, second: Floats) -> Floats:
        if not uses_loops():
            return self.total(exact(first * second))
        from wardround.measuring.engine.loops.sums import product_totals

        return product_totals(first, second, self.ends)

    def row(self, name: str) -> Floats:
        """One sum in every entry."""
        row: Floats = self.rows[self.place[name]]
        return row

    def total(self, values: Floats) -> Floats:
        """The sum over the entries of each cell, in their order."""
        if not self.cells:
            return np.zeros((*values.shape[:-1], 0))
        totals: Floats = np.add.reduceat(values, self.starts, axis=-1)
        return totals

    def spread(self, values: Floats) -> Floats:
        """The value of its cell for each entry (the last axis)."""
        return np.repeat(values, np.diff(self.ends), axis=-1)


class SumStorage:
    """Memory for sums that the next ones take over: fresh pages cost more time than what is written to them."""

    def __init__(self) -> None:
        self._buffer = np.empty(0)

    def rows(self, count: int, entries: int) -> Floats:
        """An array without values, valid until the next one is asked for."""
        size = count * entries
        if len(self._buffer) < size:
            self._buffer = np.empty(size)
        return self._buffer[:size].reshape(count, entries)


def place_items(index: pl.DataFrame, item: Integers, slice: Integers) -> Placement:
    """The rows of sums of items in these slices."""
    candidate, cluster = (index[name].cast(pl.Int64).to_numpy()[item] for name in ("candidate", "cluster"))
    clusters = int(cluster.max(initial=0)) + 1
    candidates = int(candidate.max(initial=0)) + 1
    code, row = distinct((slice * candidates + candidate) * clusters + cluster)
    cell, cluster = np.divmod(code, clusters)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    return Placement(item, row, cell[starts] // candidates, cell[starts] % candidates, starts, cluster)


def distinct(codes: Integers) -> tuple[Integers, Integers]:
    """The codes that occur, sorted, and the index of each code among them."""
    size = int(codes.max(initial=-1)) + 1
    if size > MAX_CODES_PER_ITEM * max(1, len(codes)):
        return np.unique(codes, return_inverse=True)
    if uses_loops():
        from wardround.measuring.engine.loops.sums import number_distinct

        return number_distinct(codes, size)
    occurs = np.zeros(size, bool)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def cluster_sums(
    placement: Placement,
    columns: Mapping[str, Floats],
    row_sums: Mapping[str, Floats] = MappingProxyType({}),
    storage: SumStorage | None = None,
) -> ClusterSums:
    """Adds up columns of items by slice, candidate and cluster; `row_sums` are sums of entries already.

    Columns that are the same array are added up once. With a storage the sums are valid until its next use.
    """
    entries, place = len(placement.cluster), dict[str, int]()
    row_by_array: dict[int, tuple[int, Floats]] = {}
    for name, column in columns.items():
        place[name], _ = row_by_array.setdefault(id(column), (len(row_by_array), column))
    rows = (storage or SumStorage()).rows(len(row_by_array) + len(row_sums), entries)
    add_up = _adder(placement)
    for number, column in row_by_array.values():
        add_up(column, rows[number])
    for number, (name, values) in enumerate(row_sums.items(), len(row_by_array)):
        place[name], rows[number] = number, values
    return ClusterSums(place, placement.slice, placement.candidate, placement.starts, placement.cluster, rows)


def _adder(placement: Placement) -> Callable[[Floats, Floats], None]:
    """What adds up a column over the items of each row, into an array; both ways give the same exact sums."""
    if not uses_loops():

        def add_up_few(column: Floats, totals: Floats) -> None:
            totals[:] = sum_by_index(placement.row, column[placement.item], len(totals))

        return add_up_few
    from wardround.measuring.engine.loops.sums import add_up

    item, row = (places.astype(np.int32) for places in (placement.item, placement.row))
    return lambda column, totals: add_up(column, item, row, totals)
