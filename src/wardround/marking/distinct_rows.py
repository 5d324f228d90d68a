"""Columns of a table most of whose rows are equal: each distinct row is stored once."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import polars as pl


class DistinctRows:
    """The distinct rows of some columns; a row is named by its number."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        self._rows: list[Mapping[str, Any]] = []
        self.numbers: dict[Hashable, int] = {}  # of rows, by what they depend on

    def add(self, row: Mapping[str, Any], key: Hashable = None) -> int:
        """The number of a new row; with a key it is in `numbers`."""
        number = len(self._rows)
        self._rows.append(row)
        if key is not None:
            self.numbers[key] = number
        return number

    def number(self, key: Hashable, make_row: Callable[..., Mapping[str, Any]], *arguments: Any) -> int:
        """The number of the row that depends on the key alone; it is made if it is new."""
        number = self.numbers.get(key)
        return self.add(make_row(*arguments), key) if number is None else number

    def columns(self, numbers: Sequence[int]) -> pl.DataFrame:
        """The columns of a table whose rows have these numbers."""
        return pl.DataFrame(self._rows, schema=self._schema)[list(numbers)]
