"""measures.csv and comparisons.csv: their columns, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

MEASURES: dict[str, Any] = {
    "measure": pl.String,
    "candidate": pl.String,
    "slice": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
    "unparsed": pl.Float64,
    "method": pl.String,
    "version": pl.String,
}
COMPARISONS: dict[str, Any] = {
    "measure": pl.String,
    "a": pl.String,
    "b": pl.String,
    "slice": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "family": pl.String,
    "n": pl.Int64,
    "clusters": pl.Int64,
    "method": pl.String,
}
DIGITS = 9


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Writes a table whole or not at all. Nine decimals: sums are exact to 2**-30."""
    waiting = path.with_name(f".{path.name}.new")
    table.with_columns(pl.col(pl.Float64).round(DIGITS) + 0.0).write_csv(waiting)  # + 0.0: no negative zero
    waiting.replace(path)
