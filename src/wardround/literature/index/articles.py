"""The table `articles`: the current records of a ledger, and its indices.

It is filled by one commit after another in the order of the records, so its row count says where to continue.
"""

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from wardround.literature.index.location import Connection, Table
from wardround.literature.index.sql import pmid_condition
from wardround.literature.ingest.current_records import changed_records, current_records

NAME = "articles"
COMMIT = 1_000_000  # rows of one commit, which become one file: as many as LanceDB itself would combine
BATCH = 5_000  # PMIDs replaced together
MEMORY = 512  # MiB for the postings while a BM25 index is built
RETENTION = timedelta(days=1)  # for how long an open index still sees its state before an update
TOKENS: dict[str, Any] = {"base_tokenizer": "simple", "language": "English", "max_token_length": 40, "lower_case": True}
TOKENS |= {"stem": True, "remove_stop_words": True, "ascii_folding": True, "with_position": False}
FORMULA = {"k1": 1.2, "b": 0.75}  # LanceDB's, not configurable

Note = Callable[[str], None]


def fill_articles(connection: Connection, folder: Path, note: Note) -> Table:
    """Writes the current records that the table lacks."""
    import pyarrow as pa

    schema = _schema()
    table = connection.create_table(NAME, schema=schema, exist_ok=True)
    parts = (_rows(records) for records in current_records(folder, skip=table.count_rows()) if records.height)
    for first in parts:
        batches = (batch for part in _up_to(COMMIT, chain([first], parts)) for batch in part.to_batches())
        table.add(pa.RecordBatchReader.from_batches(schema, batches), write_parallelism=1)
        note(f"{table.count_rows():,} articles written")
    return table


def apply_changes(connection: Connection, folder: Path, since: int, note: Note) -> Table:
    """Applies the revisions and deletions in files from this number on."""
    table = connection.open_table(NAME)
    pmids, records = changed_records(folder, since)
    deleted_pmids = set(pmids)
    added = revised = 0
    for frame in records:
        for batch in frame.iter_slices(BATCH):
            rows = _rows(batch)
            digest_by_pmid = dict(zip(rows["pmid"].to_pylist(), rows["digest"].to_pylist(), strict=True))
            deleted_pmids.difference_update(digest_by_pmid)
            stored = _digests(table, list(digest_by_pmid))
            is_changed = [stored.get(pmid) != digest for pmid, digest in digest_by_pmid.items()]
            changed_pmids = list(compress(digest_by_pmid, is_changed))
            if not changed_pmids:
                continue
            merge = table.merge_insert("pmid").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(rows.filter(is_changed))
            added += sum(pmid not in stored for pmid in changed_pmids)
            revised += sum(pmid in stored for pmid in changed_pmids)
    remaining = sorted(deleted_pmids)
    deleted = 0
    for start in range(0, len(remaining), BATCH):
        stored_pmids = list(_digests(table, remaining[start : start + BATCH]))
        if stored_pmids:
            table.delete(pmid_condition(stored_pmids))
        deleted += len(stored_pmids)
    note(f"{added:,} articles added, {revised:,} revised, {deleted:,} deleted")
    return table


def create_indices(table: Table, workers: int, note: Note) -> None:
    """Creates the indices that are missing or do not cover all rows."""
    from lancedb.index import FTS, BTree

    indexed = {index.columns[0] for index in table.list_indices() if not index.num_unindexed_rows}
    words = FTS(**TOKENS, memory_limit=MEMORY, num_workers=workers)
    for column, config in {"pmid": BTree(), "digest": BTree(), "text": words}.items():
        if column not in indexed:
            note(f"creating the index of {'words' if column == 'text' else column + 's'}")
            table.create_index(column, config=config)


def compact(table: Table, is_fresh: bool) -> None:
    """Combines small files and removes obsolete ones; in a fresh table also those of killed processes."""
    if is_fresh:
        table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
    else:
        table.optimize(cleanup_older_than=RETENTION)


def drop_word_index(table: Table) -> None:
    """Drops the BM25 index: updated in place, it would still count the words of deleted articles."""
    for index in table.list_indices():
        if index.columns == ["text"]:
            table.drop_index(index.name)


def count_and_sum(table: Table) -> dict[str, Any]:
    """The number of articles and the sum of their digests, which identifies them in any order."""
    total = count = 0
    for batch in table.search().select(["digest"]).limit(None).to_batches():
        digests = batch["digest"].to_numpy(zero_copy_only=False)
        count += len(digests)
        total += int(digests.view(np.uint64).sum(dtype=np.uint64))
    return {"count": count, "sum": f"{total % (1 << 64):016x}"}


def _up_to(count: int, parts: Iterator[Any]) -> Iterator[Any]:
    """Whole parts until they have `count` rows."""
    for part in parts:
        yield part
        count -= part.num_rows
        if count <= 0:
            return


def _digests(table: Table, pmids: list[str]) -> dict[str, int]:
    rows = table.search().where(pmid_condition(pmids)).select(["pmid", "digest"]).limit(None).to_arrow()
    return dict(zip(rows["pmid"].to_pylist(), rows["digest"].to_pylist(), strict=True))


def _rows(records: pl.DataFrame) -> Any:
    """Records as rows of the table."""
    digests = [
        int.from_bytes(hashlib.blake2b(orjson.dumps(row), digest_size=8).digest(), signed=True)
        for row in records.iter_rows()
    ]
    text = pl.concat_str("title", "abstract", separator="\n").alias("text")
    rows = records.with_columns(text, pl.Series("digest", digests, pl.Int64))
    schema = _schema()
    return rows.select(schema.names).to_arrow().cast(schema)


def _schema() -> Any:
    import pyarrow as pa

    lines = pa.list_(pa.string())
    return pa.schema(
        {
            "pmid": pa.string(),
            "version": pa.int32(),
            "title": pa.string(),
            "abstract": pa.string(),
            "text": pa.string(),
            "labels": lines,
            "year": pa.int32(),
            "published": pa.string(),
            "journal": pa.string(),
            "mesh": lines,
            "publication_types": lines,
            "languages": lines,
            "doi": pa.string(),
            "more": pa.string(),
            "digest": pa.int64(),
        }
    )
