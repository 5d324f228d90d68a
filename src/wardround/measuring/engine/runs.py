"""Columns of texts as runs of numbers: neighbouring marks mostly have the same case, question and condition."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.engine.sums import Integers


class Runs(NamedTuple):
    """The number of each run of equal values (null: none), and the row after its last one."""

    numbers: pl.Series
    ends: Integers

    @property
    def lengths(self) -> Integers:
        return np.diff(self.ends, prepend=0)

    def before(self, ends: Integers) -> pl.Series:
        """The numbers of the rows before these."""
        return self.numbers.gather(np.searchsorted(self.ends, ends))

    def rows(self, first: int, last: int) -> pl.Series:
        """The number of each row from `first` until before `last`."""
        start, end = np.searchsorted(self.ends, [first + 1, last])
        ends: Integers = np.clip(self.ends[start : end + 1], first, last)
        lengths = np.diff(ends, prepend=first)
        numbers = self.numbers[int(start) : int(end) + 1]
        if numbers.null_count():
            return numbers.gather(np.repeat(np.arange(len(numbers), dtype=np.uint32), lengths))
        return pl.Series(numbers.name, np.repeat(numbers.to_numpy(), lengths))


class TextRuns(NamedTuple):
    """A column of texts: its values in some order, and the number of each row's value among them."""

    values: list[str]
    runs: Runs

    def in_order(self, values: Sequence[str]) -> "TextRuns":
        """The same column with its values in another order."""
        place = {value: number for number, value in enumerate(values)}
        numbers = pl.Series([place[value] for value in self.values], dtype=pl.UInt32)
        return TextRuns(list(values), Runs(numbers.gather(self.runs.numbers), self.runs.ends))


def read_runs(column: pl.Series) -> TextRuns:
    """A column of texts, its values sorted."""
    chunks = column.get_chunks()  # of several at once polars 2.1 makes no runs
    runs = pl.concat([chunk.rle() for chunk in chunks]).struct.unnest()
    texts = runs["value"].cast(pl.String)
    values = sorted(text for text in texts.unique().to_list() if text is not None)
    numbers = texts.cast(pl.Enum(values)).to_physical().cast(pl.UInt32).alias(column.name)
    return TextRuns(values, Runs(numbers, np.cumsum(runs["len"].to_numpy(), dtype=np.int64)))


def common_ends(*columns: Runs) -> Integers:
    """The ends of the runs in which none of the columns changes."""
    is_end = np.zeros(max(int(runs.ends[-1]) for runs in columns) + 1, bool)
    for runs in columns:
        is_end[runs.ends] = True
    return np.flatnonzero(is_end)
