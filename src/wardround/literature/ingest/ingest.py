"""Ingest: files of articles into Parquet, one process per file. If it is killed, only files in progress are lost."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, Problem, describe_unreadable
from wardround.degrade.workers import map_in_order
from wardround.literature.ingest.ledger import LedgerEntry, locked, plan_files, read_entries, records_folder
from wardround.literature.ingest.record import ArticleRecord, records_table
from wardround.literature.ingest.sources import list_files, read_records

PART = 10_000  # records of one Parquet file, which are in memory together
PART_SIZE = 32_000_000  # characters of their titles and abstracts
MAX_LISTED_PROBLEMS = 100  # per file; all are counted

Job = tuple[Path, Path]  # a file, and the folder for its records


def ingest(
    sources: Sequence[Path], folder: Path, *, workers: int = 1, note: Callable[[LedgerEntry], None] | None = None
) -> list[LedgerEntry]:
    """Reads files that are new or have changed, and returns the entries of all files in their order.

    Later files replace and delete records of earlier ones. Files of earlier calls come first, then new ones as they
    are listed. `note` is called with the entry of each file read now.
    """
    files = list_files(sources)
    with locked(folder):
        planned = plan_files(folder, files)
        known = read_entries(folder)
        for leftover in (folder / "records").glob(".*"):  # of a killed process
            shutil.rmtree(leftover)
        numbers = {source: number for number, source in enumerate(planned)}
        jobs: list[Job] = []
        for file in files:
            number = numbers[str(file)]
            if number not in known or not known[number].is_of(file):
                jobs.append((file, records_folder(folder, number)))
        try:
            for (file, _), entry in map_in_order(ingest_file, jobs, workers):
                if entry is None:
                    raise BadInput(file, "the process that read it died; the records of other files are kept")
                if note:
                    note(entry)
        except OSError as error:
            raise BadInput(folder, describe_unreadable(error)) from None
        return list(read_entries(folder).values())


def ingest_file(job: Job) -> LedgerEntry:
    """Reads one file into its folder, which appears complete, with its entry, at the end."""
    file, target = job
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    status = file.stat()
    digest = sha256_file(file)
    records: list[ArticleRecord] = []
    parts = deletions = count = size = problems = 0
    listed: list[str] = []
    for item in read_records(file):
        if isinstance(item, Problem):
            problems += 1
            if problems <= MAX_LISTED_PROBLEMS:
                listed.append(str(item))
            continue
        records.append(item)
        deletions += item.deleted
        count += not item.deleted
        size += len(item.title) + len(item.abstract)
        if len(records) == PART or size >= PART_SIZE:
            records_table(records).write_parquet(draft / f"{parts:05}.parquet", compression="zstd")
            records, parts, size = [], parts + 1, 0
    if records:
        records_table(records).write_parquet(draft / f"{parts:05}.parquet", compression="zstd")
    entry = LedgerEntry(str(file), status.st_size, status.st_mtime_ns, digest, count, deletions, problems, listed)
    (draft / "entry.json").write_bytes(orjson.dumps(entry, option=orjson.OPT_INDENT_2))
    if target.exists():
        shutil.rmtree(target)
    draft.rename(target)
    return entry
