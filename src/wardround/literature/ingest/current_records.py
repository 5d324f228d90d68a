"""The current records: all records read that are neither replaced nor deleted.

Records and deletions of a PMID are ordered by version, then by the order in which they were read; the last one counts.
So the newest version wins wherever it is, a revision replaces earlier records, and a deletion holds until the same or
a newer version is read again.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.literature.ingest.ledger import read_entries, records_folder

CHUNK_RECORDS = 4_000_000  # records compared together: a few hundred megabytes


def current_records(folder: Path, skip: int = 0) -> Iterator[pl.DataFrame]:
    """The current records, one Parquet file after another, without the files that hold the first `skip` records."""
    parts = _parts(folder)
    for part, rows in zip(parts, _split(_current_rows(parts), parts), strict=True):
        count = int(rows.sum())
        if skip < max(1, count):
            yield pl.read_parquet(part).filter(pl.Series(rows)).drop("deleted")
        skip = max(0, skip - count)


def changed_records(folder: Path, first: int) -> tuple[pl.Series, Iterator[pl.DataFrame]]:
    """The PMIDs in files from this number on, and their current records."""
    changed_parts = [part for number in read_entries(folder) if number >= first for part in _parts_of(folder, number)]
    if not changed_parts:
        return pl.Series([], dtype=pl.String), iter(())
    pmids = pl.scan_parquet(changed_parts).select(pl.col("pmid").unique()).collect().to_series()
    parts = _parts(folder)
    current = zip(parts, _split(_current_rows(parts, among=pmids), parts), strict=True)
    return pmids, (
        pl.read_parquet(part).filter(pl.Series(rows)).drop("deleted") for part, rows in current if rows.any()
    )


def _parts(folder: Path) -> list[Path]:
    return [part for number in read_entries(folder) for part in _parts_of(folder, number)]


def _parts_of(folder: Path, number: int) -> list[Path]:
    return sorted(records_folder(folder, number).glob("*.parquet"))


def _split(rows: NDArray[np.bool_], parts: list[Path]) -> Iterator[NDArray[np.bool_]]:
    """Splits the rows of all parts into those of each."""
    start = 0
    for part in parts:
        height = int(pl.scan_parquet(part).select(pl.len()).collect().item())
        yield rows[start : start + height]
        start += height


def _current_rows(parts: list[Path], among: pl.Series | None = None) -> NDArray[np.bool_]:
    """Whether each row of all parts is current. PMIDs are compared in chunks that fit into memory."""
    if not parts:
        return np.zeros(0, bool)
    rows = pl.scan_parquet(parts, row_index_name="row").select("row", "pmid", "version", "deleted")
    count = int(rows.select(pl.len()).collect().item())
    is_current = np.zeros(count, bool)
    chunks = 1
    if among is not None:
        rows = rows.filter(pl.col("pmid").is_in(among.implode()))
    else:
        chunks += count // CHUNK_RECORDS
    for chunk in range(chunks):
        rows_of_chunk = rows.filter(pl.col("pmid").hash() % chunks == chunk).collect()
        newest = (
            rows_of_chunk.sort("version", "row")
            .unique("pmid", keep="last", maintain_order=True)
            .filter(~pl.col("deleted"))
        )
        is_current[newest["row"].to_numpy()] = True
    return is_current
