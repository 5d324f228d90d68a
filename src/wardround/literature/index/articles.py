"""The table `articles`: the current records of a ledger, and its indices.

It is filled by one commit after another in the order of the records, so its row count says where to continue.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from wardround.literature.index.location import Connection, Table
from wardround.literature.index.sql import pmid_condition
from wardround.literature.ingest.current_records import changed_records, current_records

NAME = "articles"
STORED = ["pmid", "digest", "title", "abstract"]  # of rows that an update may remove
COMMIT = (
    1 << 20
)  # rows of one commit, as many as one file has: files with fewer are written again when they are combined
BATCH = 5_000  # PMIDs replaced together
MAX_UNINDEXED, MAX_UNINDEXED_SHARE = 10_000, 0.005  # rows that lookups read through; more are indexed
RETENTION = timedelta(days=1)  # for how long an open index still sees its state before it was compacted
ZSTD = {"lance-encoding:compression": "zstd"}

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


@dataclass(frozen=True)
class ArticleChanges:
    """What an update does to the table: rows to add, and rows that they or deletions remove."""

    added: pl.DataFrame
    removed: pl.DataFrame


def find_changes(table: Table, folder: Path, since: int) -> ArticleChanges:
    """The changes by the files from this number on."""
    pmids, records = changed_records(folder, since)
    deleted_pmids = set(pmids)
    added: list[pl.DataFrame] = []
    removed: list[pl.DataFrame] = []
    for frame in records:
        for batch in frame.iter_slices(BATCH):
            rows = pl.DataFrame(_rows(batch))
            deleted_pmids.difference_update(rows["pmid"])
            stored = _stored(table, rows["pmid"].to_list())
            digests = stored.select("pmid", stored_digest="digest")
            changed = rows.join(digests, on="pmid", how="left", maintain_order="left").filter(
                pl.col("digest").ne_missing(pl.col("stored_digest"))
            )
            added.append(changed.drop("stored_digest"))
            removed.append(stored.filter(pl.col("pmid").is_in(changed["pmid"].implode())))
    remaining = sorted(deleted_pmids)
    removed += [_stored(table, remaining[start : start + BATCH]) for start in range(0, len(remaining), BATCH)]
    empty = pl.DataFrame(table.schema.empty_table())
    return ArticleChanges(pl.concat([empty, *added]), pl.concat([empty.select(STORED), *removed]))


def apply_changes(table: Table, changes: ArticleChanges) -> None:
    """Removes and adds the rows of an update."""
    pmids = changes.removed["pmid"].to_list()
    for start in range(0, len(pmids), BATCH):
        table.delete(pmid_condition(pmids[start : start + BATCH]))
    if len(changes.added):
        table.add(changes.added.to_arrow().cast(table.schema), write_parallelism=1)


def create_indices(table: Table, note: Note) -> None:
    """Creates the indices that are missing, or that do not cover many rows."""
    from lancedb.index import BTree

    unindexed = {index.columns[0]: index.num_unindexed_rows for index in table.list_indices()}
    limit = max(MAX_UNINDEXED, MAX_UNINDEXED_SHARE * table.count_rows())
    for column in ("pmid", "digest"):
        if column not in unindexed or unindexed[column] > limit:
            note(f"creating the index of {column}s")
            table.create_index(column, config=BTree())


def read_rows(table: Table, condition: str, columns: list[str]) -> Any:
    """The rows that meet a condition on an indexed column; the other columns are read only for those."""
    rows = table.search().where(condition).select(["digest"]).with_row_id(True).limit(None).to_arrow()
    if not rows.num_rows:
        return table.schema.empty_table().select(columns)
    return table.take_row_ids(rows["_rowid"].to_pylist()).select(columns).to_arrow()


def compact(table: Table, is_fresh: bool) -> None:
    """Combines small files; in a fresh table also removes obsolete ones and those of killed processes."""
    if is_fresh:
        table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
    else:
        table.optimize(cleanup_older_than=timedelta(days=36_500))


def remove_obsolete(table: Table) -> None:
    """Removes files that only versions before the retention need."""
    table.optimize(cleanup_older_than=RETENTION)


def count_and_sum(table: Table) -> dict[str, Any]:
    """The number of articles and the sum of their digests, which identifies them in any order."""
    total = count = 0
    for batch in table.search().select(["digest"]).limit(None).to_batches():
        digests = batch["digest"].to_numpy(zero_copy_only=False)
        count += len(digests)
        total += int(digests.view(np.uint64).sum(dtype=np.uint64))
    return {"count": count, "sum": f"{total % (1 << 64):016x}"}


def changed_sum(before: dict[str, Any], changes: ArticleChanges) -> dict[str, Any]:
    """What count_and_sum() is after an update, without reading the table."""
    total = int(before["sum"], 16) + sum(changes.added["digest"]) - sum(changes.removed["digest"])
    count = before["count"] + len(changes.added) - len(changes.removed)
    return {"count": count, "sum": f"{total % (1 << 64):016x}"}


def _up_to(count: int, parts: Iterator[Any]) -> Iterator[Any]:
    """Whole parts until they have `count` rows."""
    for part in parts:
        yield part
        count -= part.num_rows
        if count <= 0:
            return


def _stored(table: Table, pmids: list[str]) -> pl.DataFrame:
    return pl.DataFrame(read_rows(table, pmid_condition(pmids), STORED))


def _rows(records: pl.DataFrame) -> Any:
    """Records as rows of the table."""
    digests = [
        int.from_bytes(hashlib.blake2b(orjson.dumps(row), digest_size=8).digest(), signed=True)
        for row in records.iter_rows()
    ]
    rows = records.with_columns(pl.Series("digest", digests, pl.Int64))
    schema = _schema()
    return rows.select(schema.names).to_arrow().cast(schema)


def _schema() -> Any:
    import pyarrow as pa

    lines = pa.list_(pa.field("item", pa.string(), metadata=ZSTD))
    types = {
        "pmid": pa.string(),
        "version": pa.int32(),
        "title": pa.string(),
        "abstract": pa.string(),
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
    return pa.schema(
        [pa.field(name, kind, metadata=ZSTD if kind == pa.string() else None) for name, kind in types.items()]
    )
