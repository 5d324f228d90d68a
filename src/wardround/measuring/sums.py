"""Sums over clusters: all that intervals and tests need to know of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.exact import Floats

Whole = NDArray[np.int64]


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

    def row(self, name: str) -> Floats:
        """One sum in every row."""
        column: Floats = self.rows[:, self.names.index(name)]
        return column

    def total(self, values: Floats) -> Floats:
        """A value of each row added up in each cell, in the order of the rows."""
        if not self.cells:
            return np.zeros(0)
        totals: Floats = np.add.reduceat(values, self.starts)
        return totals

    def spread(self, values: Floats) -> Floats:
        """A value of each cell given to each of its rows."""
        lengths = np.diff(np.append(self.starts, len(self.rows)))
        return np.repeat(values, lengths)


def cluster_sums(sliced: pl.DataFrame, names: Sequence[str]) -> ClusterSums:
    """Adds items up by slice, candidate and cluster."""
    cell = ["slice", "candidate"]
    added = sliced.group_by(*cell, "cluster").agg(pl.col(names).sum()).sort(*cell, "cluster")
    first = added.select(pl.struct(cell).rle_id().alias("cell"), *cell).with_row_index("start")
    first = first.unique("cell", keep="first", maintain_order=True)
    return ClusterSums(
        tuple(names),
        _whole(first["slice"]),
        _whole(first["candidate"]),
        _whole(first["start"]),
        _whole(added["cluster"]),
        np.ascontiguousarray(added.select(names).to_numpy().astype(np.float64, copy=False)),
    )


def _whole(column: pl.Series) -> Whole:
    numbers: Whole = column.cast(pl.Int64).to_numpy()
    return numbers
