"""Columns of a table most of whose rows are equal: each distinct row is stored once."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import polars as pl


class DistinctRows:
    """The distinct rows of some columns; a row is named by its number."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        self._rows: list[Mapping[str, Any]] = []
        self.numbers: dict[Hashable, int] = {}  # of rows by a key of their content

    def add(self, row: Mapping[str, Any], key: Hashable = None) -> int:
        """The number of a new row; with a key it is found again in `numbers`."""
        number = len(self._rows)
        self._rows.append(row)
        if key is not None:
            self.numbers[key] = number
        return number

    def number_of(self, row: Mapping[str, Any]) -> int:
        """The number of a row with this content, new or not; its values are texts, numbers and lists of these."""
        key = tuple([tuple(value) if isinstance(value, list) else value for value in row.values()])
        number = self.numbers.get(key)
        return self.add(row, key) if number is None else number

    def columns(self, numbers: Sequence[int]) -> pl.DataFrame:
        """The columns of a table whose rows have these numbers."""
        distinct = pl.DataFrame(self._rows, schema=self._schema)
        return distinct[numbers] if len(distinct) else distinct.clear(len(numbers))
