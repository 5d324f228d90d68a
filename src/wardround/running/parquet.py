"""Parquet tables written and read in parts: they need not fit into memory."""

import shutil
from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import Path

import polars as pl

from wardround.core.errors import BadInput
from wardround.core.files import replacement

ROWS = 20_000  # per row group


def write_in_parts(file: Path, parts: Iterable[pl.DataFrame]) -> None:
    """Writes a table of at least one part, whole or not at all."""
    parts = iter(parts)
    first: list[pl.DataFrame] = []  # as much as one row group
    while sum(map(len, first)) <= ROWS:
        if (part := next(parts, None)) is None:
            with replacement(file, durable=True) as draft:
                pl.concat(first).write_parquet(draft, row_group_size=ROWS)
            return
        first.append(part)
    folder = file.with_name(f".{file.name}.parts")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    written: list[Path] = []
    for number, part in enumerate(chain(first, parts)):
        written.append(folder / f"{number}.parquet")
        part.write_parquet(written[-1])
    with replacement(file, durable=True) as draft:
        pl.scan_parquet(written).sink_parquet(draft, row_group_size=ROWS)
    shutil.rmtree(folder)


def open_table(file: Path, remedy: str) -> pl.LazyFrame:
    """A Parquet table; `remedy` says how to get it if it is missing or damaged."""
    try:
        pl.read_parquet_schema(file)
    except FileNotFoundError:
        raise BadInput(file, f"there is no such table; {remedy}") from None
    except (OSError, pl.exceptions.PolarsError):
        raise BadInput(file, f"is damaged or is not a Parquet table; {remedy}") from None
    return pl.scan_parquet(file)


def in_parts(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows of a table, in order."""
    for first in count(0, ROWS):
        part = table.slice(first, ROWS).collect()
        if not part.is_empty():
            yield part
        if len(part) < ROWS:
            return
