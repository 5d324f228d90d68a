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

from wardround.literature.ledger import entries, place_of

AT_ONCE = 4_000_000  # records compared together: a few hundred megabytes


def current(folder: Path) -> Iterator[pl.DataFrame]:
    """The current records, those of one Parquet file after another."""
    parts = [part for place in entries(folder) for part in sorted(place_of(folder, place).glob("*.parquet"))]
    kept = _kept(parts)
    start = 0
    for part in parts:
        table = pl.read_parquet(part)
        rows = pl.Series(kept[start : start + table.height])
        start += table.height
        yield table.filter(rows).drop("deleted")


def _kept(parts: list[Path]) -> np.ndarray:
    """Of all rows of all parts in order: is it current? PMIDs are compared in shares that fit into memory."""
    if not parts:
        return np.zeros(0, bool)
    rows = pl.scan_parquet(parts, row_index_name="row").select("row", "pmid", "version", "deleted")
    count = int(rows.select(pl.len()).collect().item())
    kept = np.zeros(count, bool)
    shares = 1 + count // AT_ONCE
    for share in range(shares):
        some = rows.filter(pl.col("pmid").hash() % shares == share).collect()
        last = some.sort("version", "row").unique("pmid", keep="last", maintain_order=True).filter(~pl.col("deleted"))
        kept[last["row"].to_numpy()] = True
    return kept
