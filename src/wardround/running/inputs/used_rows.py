"""UsedRows: the rows of used.parquet in any order, as they come; beyond some number of rows they are on disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import polars as pl

SCHEMA = {
    "candidate": pl.Int16,
    "case": pl.Int32,
    "question": pl.String,
    "condition": pl.Int16,
    "trial": pl.Int32,
    "ask": pl.Binary,
    "turn": pl.Int16,
    "scored": pl.Boolean,
}
ORDER = ("candidate", "case", "question", "condition", "trial", "turn", "ask")
DIGEST, DIGEST_SIZE = "digest", 16  # of answers; the column is not in used.parquet
CHUNK = 20_000  # rows of one table
MAX_ROWS = 500_000  # in memory: 65 MB


# one used answer: the columns of SCHEMA, and its digest if that is known; a plain tuple takes a third of the time
UsedRow = tuple[int, int, str, int, int, bytes, int, bool, bytes | None]


class UsedRows:
    """Collects rows; `folder` is made when they do not fit into memory, and removed when they were read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: list[UsedRow] = []
        self._frames: list[pl.DataFrame] = []
        self._files: list[Path] = []
        self._lacks_digests = False
        self.answers_hash: str | None = None  # of all answers in order, after `tables`; None if a digest is unknown

    def add(self, row: UsedRow) -> None:
        self._rows.append(row)
        if len(self._rows) >= CHUNK:
            self._pack()

    def _pack(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * (len(SCHEMA) + 1)
        *values, digests = map(list, columns)
        self._lacks_digests |= None in digests
        frame = pl.DataFrame(dict(zip(SCHEMA, values, strict=True)), schema=SCHEMA)
        self._frames.append(frame.with_columns(pl.Series(DIGEST, digests, dtype=pl.Binary)))
        self._rows = []
        if len(self._frames) * CHUNK >= MAX_ROWS:
            self._write()

    def _write(self) -> None:
        """Writes what is in memory as a sorted file, of which a few cases can be read without the rest."""
        if not self._files:
            shutil.rmtree(self._folder, ignore_errors=True)  # of a start that was killed
            self._folder.mkdir(parents=True)
        file = self._folder / f"{len(self._files)}.parquet"
        pl.concat(self._frames).sort(*ORDER).write_parquet(file, row_group_size=CHUNK)
        self._files.append(file)
        self._frames = []

    def tables(self) -> Iterator[pl.DataFrame]:
        """All rows with the columns of SCHEMA, sorted by ORDER, in tables of at most CHUNK rows; at least one table."""
        self._pack()
        hasher = blake2b(digest_size=DIGEST_SIZE)
        for part in self._sorted_parts():
            for table in part.iter_slices(CHUNK) if len(part) else [part]:
                if not self._lacks_digests:
                    hasher.update(b"".join(table[DIGEST].to_list()))
                yield table.select(list(SCHEMA))
        self.answers_hash = None if self._lacks_digests else hasher.hexdigest()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _sorted_parts(self) -> Iterator[pl.DataFrame]:
        """The rows in order, about MAX_ROWS at a time."""
        if not self._files:
            frames, self._frames = self._frames, []
            yield pl.concat(frames).sort(*ORDER)
            return
        if self._frames:
            self._write()
        rows = pl.scan_parquet(self._files)
        of_case = rows.group_by("candidate", "case").agg(count=pl.len()).sort("candidate", "case").collect()
        part = (of_case["count"].cum_sum() - 1) // MAX_ROWS
        for cases in of_case.with_columns(part=part).partition_by("candidate", "part", maintain_order=True):
            candidate, first, last = cases["candidate"][0], cases["case"][0], cases["case"][-1]
            own = rows.filter(pl.col("candidate") == candidate, pl.col("case").is_between(first, last))
            yield own.collect().sort(*ORDER)
