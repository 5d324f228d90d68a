"""Marks in the order of their items, and sums over the marks of each item."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
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
        values: Floats = self.frame[name].cast(pl.Float64).to_numpy()
        return values

    def flags(self, name: str) -> Flags:
        """A column of marks as booleans, false where it is empty."""
        if not self.has(name):
            return np.zeros(len(self.frame), bool)
        column = self.frame[name]
        flags: Flags = (column.fill_null(False) if column.null_count() else column).to_numpy()
        return flags

    def total(self, values: NDArray[Any]) -> Floats:
        """The sum over the marks of each item."""
        return sum_by_index(self.item, values, self.size)

    def counts(self, name: str, leave_out: Flags, least: int) -> Floats:
        """How often each item has each whole number of a column (items x numbers), `least` of them or more."""
        values = self.frame[name].cast(pl.Int16).fill_null(-1).to_numpy()
        if leave_out.any():
            values = np.where(leave_out, np.int16(-1), values)
        size = max(least, int(values.max(initial=0)) + 1)
        if uses_loops():
            from wardround.measuring.engine.loops.sums import count_options

            return count_options(self.item, values, self.size, size)
        chosen = values >= 0
        counts = np.bincount(self.item[chosen] * size + values[chosen], minlength=self.size * size)
        return counts.reshape(self.size, size).astype(np.float64)

    def per_item(self, name: str) -> Floats:
        """A column that all marks of an item share, such as its number of options; nan where it is empty."""
        if not self.has(name):
            return np.full(self.size, np.nan)
        values: Floats = self.frame[name].gather(self.first).cast(pl.Float64).to_numpy()
        return values

    def first_only(self) -> "ItemMarks":
        """The first mark of each item, in the order of items."""
        place = np.arange(self.size)
        return ItemMarks(self.frame[self.first], place, place, self.encoded)

    def index(self) -> pl.DataFrame:
        """ITEM and the strata of each item."""
        return self.frame.select(*ITEM, *(name for name in STRATUM if name in self.frame.columns))[self.first]


def group_by_item(marks: pl.DataFrame, encoded: EncodedMarks) -> ItemMarks:
    """Numbers items by candidate, question and condition; the marks stay in their order.

    The marks of an item mostly follow one another, so that runs of marks are sorted and not the marks.
    """
    candidate, subject, condition = (marks[name].to_numpy() for name in ("candidate", "subject", "condition"))
    key = (candidate.astype(np.int64) * len(encoded.subjects) + subject) * len(encoded.conditions) + condition
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    _, first_run, item_of_run = np.unique(key[starts], return_index=True, return_inverse=True)
    item = np.repeat(item_of_run, np.diff(starts, append=len(key)))
    return ItemMarks(marks, item, starts[first_run], encoded)
