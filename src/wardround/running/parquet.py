"""Parquet tables that are written and read some rows at a time: they need not fit into memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import polars as pl

ROWS = 20_000  # of a row group, which can be read without the others


def write_in_parts(file: Path, parts: Iterable[pl.DataFrame]) -> None:
    """Writes a table, of which there is at least one part, whole or not at all."""
    folder, waiting = file.with_name(f".{file.name}.parts"), file.with_name(f".{file.name}.new")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    written: list[Path] = []
    for number, part in enumerate(parts):
        written.append(folder / f"{number}.parquet")
        part.write_parquet(written[-1])
    pl.scan_parquet(written).sink_parquet(waiting, row_group_size=ROWS)
    shutil.rmtree(folder)
    waiting.replace(file)


def in_parts(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows of a table, in order."""
    for first in count(0, ROWS):
        part = table.slice(first, ROWS).collect()
        if part.is_empty():
            return
        yield part
