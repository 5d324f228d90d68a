"""Marks in the order of their items, and sums over the marks of each item."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.engine.encode import ITEM, OUTCOMES, STRATUM, EncodedMarks
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers, sum_by_index

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ItemMarks:
    """The marks of some candidates. An item is one question under one condition, in all its trials."""

    frame: pl.DataFrame
    item: Integers  # of each mark
    first: Integers  # the first mark of each item
    encoded: EncodedMarks

    @property
    def size(self) -> int:
        return len(self.first)

    def outcome(self, name: str) -> Flags:
        flags: Flags = self.frame["outcome"].to_numpy() == OUTCOMES.index(name)
        return flags

    def has(self, name: str) -> bool:
        """Whether an optional column is present."""
        return name in self.frame.columns

    def floats(self, name: str) -> Floats:
        """A column of marks as floats, nan where it is empty."""
        if not self.has(name):
            return np.full(len(self.frame), np.nan)
        values: Floats = self.frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return values

    def flags(self, name: str) -> Flags:
        """A column of marks as booleans, false where it is empty."""
        if not self.has(name):
            return np.zeros(len(self.frame), bool)
        flags: Flags = self.frame[name].fill_null(False).to_numpy()
        return flags

    def total(self, values: NDArray[Any]) -> Floats:
        """The sum over the marks of each item."""
        return sum_by_index(self.item, values, self.size)

    def per_item(self, name: str) -> Floats:
        """A column that all marks of an item share, such as its number of options; nan where it is empty."""
        if not self.has(name):
            return np.full(self.size, np.nan)
        values: Floats = self.frame[name].gather(self.first).cast(pl.Float64).fill_null(np.nan).to_numpy()
        return values

    def index(self) -> pl.DataFrame:
        """ITEM and the strata of each item."""
        return self.frame.select(*ITEM, *(name for name in STRATUM if name in self.frame.columns))[self.first]


def group_by_item(marks: pl.DataFrame, encoded: EncodedMarks) -> ItemMarks:
    """Sorts marks by candidate, question and condition."""
    place = [pl.col(name).cast(pl.Int64) for name in ("candidate", "subject", "condition")]
    key = (place[0] * len(encoded.subjects) + place[1]) * len(encoded.conditions) + place[2]
    ordered = marks.with_columns(key=key)
    if not ordered["key"].is_sorted():
        ordered = ordered.sort("key")
    keys = ordered["key"].to_numpy()
    starts = np.ones(len(keys), bool)
    starts[1:] = keys[1:] != keys[:-1]
    item = np.cumsum(starts) - 1
    return ItemMarks(ordered.drop("key"), item, np.flatnonzero(starts), encoded)
