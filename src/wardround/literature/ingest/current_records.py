"""The current records: of everything that was read, what is neither replaced nor deleted.

Records and deletions of a PMID are compared by version, then by the order in which they were read: the last one
counts. So the newest version wins wherever it stands, a revision replaces what was read before it, and a deletion
holds until the same or a newer version is told again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from wardround.literature.ingest.ledger import entries, place_of

AT_ONCE = 4_000_000  # records compared together: a few hundred megabytes


def current(folder: Path, after: int = 0) -> Iterator[pl.DataFrame]:
    """The current records, those of one Parquet file after another; without the files that hold the first `after`."""
    parts = _parts(folder)
    for part, rows in zip(parts, _split(_kept(parts), parts), strict=True):
        count = int(rows.sum())
        if after < max(1, count):
            yield pl.read_parquet(part).filter(pl.Series(rows)).drop("deleted")
        after = max(0, after - count)


def news(folder: Path, since: int) -> tuple[pl.Series, Iterator[pl.DataFrame]]:
    """The PMIDs that files from this place on tell of, and those of their records that are current."""
    told = [part for place in entries(folder) if place >= since for part in _parts_of(folder, place)]
    if not told:
        return pl.Series([], dtype=pl.String), iter(())
    pmids = pl.scan_parquet(told).select(pl.col("pmid").unique()).collect().to_series()
    parts = _parts(folder)
    kept = zip(parts, _split(_kept(parts, among=pmids), parts), strict=True)
    return pmids, (pl.read_parquet(part).filter(pl.Series(rows)).drop("deleted") for part, rows in kept if rows.any())


def _parts(folder: Path) -> list[Path]:
    return [part for place in entries(folder) for part in _parts_of(folder, place)]


def _parts_of(folder: Path, place: int) -> list[Path]:
    return sorted(place_of(folder, place).glob("*.parquet"))


def _split(rows: np.ndarray, parts: list[Path]) -> Iterator[np.ndarray]:
    """Rows of all parts as those of each."""
    start = 0
    for part in parts:
        height = int(pl.scan_parquet(part).select(pl.len()).collect().item())
        yield rows[start : start + height]
        start += height


def _kept(parts: list[Path], among: pl.Series | None = None) -> np.ndarray:
    """Of all rows of all parts in order: is it current? PMIDs are compared in shares that fit into memory."""
    if not parts:
        return np.zeros(0, bool)
    rows = pl.scan_parquet(parts, row_index_name="row").select("row", "pmid", "version", "deleted")
    count = int(rows.select(pl.len()).collect().item())
    kept = np.zeros(count, bool)
    shares = 1
    if among is not None:
        rows = rows.filter(pl.col("pmid").is_in(among.implode()))
    else:
        shares += count // AT_ONCE
    for share in range(shares):
        some = rows.filter(pl.col("pmid").hash() % shares == share).collect()
        last = some.sort("version", "row").unique("pmid", keep="last", maintain_order=True).filter(~pl.col("deleted"))
        kept[last["row"].to_numpy()] = True
    return kept
