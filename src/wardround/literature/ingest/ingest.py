"""Ingest: files of articles into Parquet, one process a file. Killed at any moment, it loses the files under way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, Problem
from wardround.degrade.workers import in_order
from wardround.literature.ingest.ledger import Entry, entries, locked, place_of, plan
from wardround.literature.ingest.record import Record, table
from wardround.literature.ingest.sources import files, read

PART = 10_000  # records of one Parquet file, which are in memory together
PART_SIZE = 32_000_000  # characters of their titles and abstracts
NAMED = 100  # problems of a file that are told one by one; all are counted

Job = tuple[Path, Path]  # a file, and the folder for what is read of it


def ingest(
    sources: Sequence[Path], folder: Path, *, workers: int = 1, tell: Callable[[Entry], None] | None = None
) -> list[Entry]:
    """Reads what was not read yet, or has changed since, and returns the entries of all files in their order.

    Files later in the order replace and delete what earlier ones told: those of an earlier call come first, then
    those new to this one as they are given. `tell` hears of each file that was read now.
    """
    given = files(sources)
    with locked(folder):
        order = plan(folder, given)
        known = entries(folder)
        for left in (folder / "records").glob(".*"):  # by a process that was killed
            shutil.rmtree(left)
        places = {source: place for place, source in enumerate(order)}
        jobs: list[Job] = []
        for file in given:
            place = places[str(file)]
            if place not in known or not known[place].is_of(file):
                jobs.append((file, place_of(folder, place)))
        try:
            for (file, _), entry in in_order(ingest_file, jobs, workers):
                if entry is None:
                    raise BadInput(file, "the process that read it died; what was read of other files is kept")
                if tell:
                    tell(entry)
        except OSError as error:
            raise BadInput(folder, f"cannot be written: {error.strerror or error}") from None
        return list(entries(folder).values())


def ingest_file(job: Job) -> Entry:
    """Reads one file into its folder, which appears whole, with its entry, when all was read."""
    file, there = job
    draft = there.with_name(f".{there.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    found = file.stat()
    digest = sha256_file(file)
    records: list[Record] = []
    parts = deletions = count = size = problems = 0
    named: list[str] = []
    for each in read(file):
        if isinstance(each, Problem):
            problems += 1
            if problems <= NAMED:
                named.append(str(each))
            continue
        records.append(each)
        deletions += each.deleted
        count += not each.deleted
        size += len(each.title) + len(each.abstract)
        if len(records) == PART or size >= PART_SIZE:
            table(records).write_parquet(draft / f"{parts:05}.parquet", compression="zstd")
            records, parts, size = [], parts + 1, 0
    if records:
        table(records).write_parquet(draft / f"{parts:05}.parquet", compression="zstd")
    entry = Entry(str(file), found.st_size, found.st_mtime_ns, digest, count, deletions, problems, named)
    (draft / "entry.json").write_bytes(orjson.dumps(entry, option=orjson.OPT_INDENT_2))
    if there.exists():
        shutil.rmtree(there)
    draft.rename(there)
    return entry
