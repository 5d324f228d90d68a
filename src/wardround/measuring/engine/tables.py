"""The columns of tables of figures, such as measures.csv and comparisons.csv, and how they are written."""

from pathlib import Path
from typing import Any

import polars as pl

from wardround.core.files import replacement
from wardround.core.text import FORMULA_STARTS, with_formula, without_formula

DIGITS = 9
TEXTS = frozenset(
    (
        *("measure", "candidate", "slice", "method", "version", "family", "a", "b"),
        *("key", "source", "worst", "best", "stage", "state", "before", "figure", "letter"),
    )
)
COUNTS = frozenset(
    ("n", "n_after_wrong", "clusters", "groups", "reached", "chains", "cells", "first", "last", "strong")
)


def table_schema(*columns: str, **others: Any) -> dict[str, Any]:
    """The columns of a table: names are text, counts integers, figures floats, unless `others` says otherwise."""
    usual = dict.fromkeys(TEXTS, pl.String) | dict.fromkeys(COUNTS, pl.Int64)
    return {name: (usual | others).get(name, pl.Float64) for name in columns}


MEASURES = table_schema(
    *("measure", "candidate", "slice", "value", "low", "high", "n", "clusters"),
    *("unparsed", "refused", "method", "version"),
)
COMPARISONS = table_schema(
    *("measure", "a", "b", "slice", "value", "low", "high"),
    *("p", "p_adjusted", "family", "n", "clusters", "method"),
)


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Writes a table whole or not at all. Nine decimals: sums are exact to 2**-30."""
    rounded = pl.col(pl.Float64).round(DIGITS) + 0.0  # + 0.0: no negative zero
    texts = [
        column.map_elements(without_formula, return_dtype=pl.String)
        for column in table.select(pl.col(pl.String))
        if column.str.head(1).is_in(FORMULA_STARTS).any()
    ]
    with replacement(path) as draft:
        table.with_columns(rounded, *texts).write_csv(draft)


def restore_texts(table: pl.DataFrame) -> pl.DataFrame:
    """A table as it was before `write_table` made its texts safe for spreadsheets."""
    return table.with_columns(
        column.map_elements(with_formula, return_dtype=pl.String)
        for column in table.select(pl.col(pl.String))
        if column.str.starts_with(" ").any()
    )
