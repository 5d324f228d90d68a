"""The answers that a run used: `used.parquet`, from which marks can be made again at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from wardround.running.store import Row

FILE = "used.parquet"
CHUNK = 20_000
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


class Used(NamedTuple):
    """One answer that the run used: what it answers, and where it stands in the store."""

    case: int  # number of the case in its set
    question: str
    condition: int  # number of the condition in the study
    row: Row
    scored: bool
    cut: bool  # whether something did not fit the candidate's context


class UsedRows:
    """Collects what was used, compactly; the order of arrival does not matter."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._rows: list[tuple[int, int, str, int, int, bytes, int, bool]] = []
        self.counts: Counter[int] = Counter()  # by candidate
        self.cuts: Counter[int] = Counter()

    def add(self, candidate: int, used: Used) -> None:
        case, question, condition, (ask, trial, turn), scored, cut = used
        self.counts[candidate] += 1
        if cut:
            self.cuts[candidate] += 1
        self._rows.append((candidate, case, question, condition, trial, ask, turn, scored))
        if len(self._rows) >= CHUNK:
            self._pack()

    def _pack(self) -> None:
        self._frames.append(pl.DataFrame(self._rows, schema=SCHEMA, orient="row"))
        self._rows = []

    def tables(self, candidates: list[str], case_ids: list[str], conditions: list[str]) -> Iterator[pl.DataFrame]:
        """All rows in the order of candidate, case, question, condition and trial, with names for numbers."""
        self._pack()
        every = pl.concat(self._frames).sort("candidate", "case", "question", "condition", "trial", "turn", "ask")
        self._frames = []
        names = {
            name: pl.Series(values, dtype=pl.String)
            for name, values in (("candidate", candidates), ("case", case_ids), ("condition", conditions))
        }
        for rows in every.iter_slices(CHUNK) if len(every) else [every]:
            yield rows.with_columns(
                *(values.gather(rows[name]).alias(name) for name, values in names.items()),
                rows["ask"].bin.encode("hex").alias("ask"),
            )


def scan_used(folder: Path) -> pl.LazyFrame:
    return pl.scan_parquet(folder / FILE)


def read_used(folder: Path) -> pl.DataFrame:
    return scan_used(folder).collect()
