"""The table `articles`: the current records of a ledger, and the indices by which they are found.

It is filled in one commit after another, in the order of the records: its rows tell where a killed process goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from wardround.literature.index.location import Connection, Table
from wardround.literature.index.sql import among
from wardround.literature.ingest.current_records import current, news

NAME = "articles"
COMMIT = 1_000_000  # rows of one commit, which are a file of the table: as many as LanceDB would bring together itself
TOGETHER = 5_000  # PMIDs that are replaced together
MEMORY = 512  # MiB for the postings of a BM25 index that is being made
KEPT = timedelta(days=1)  # for how long whoever has an index open sees it as it was before an update
TOKENS: dict[str, Any] = {"base_tokenizer": "simple", "language": "English", "max_token_length": 40, "lower_case": True}
TOKENS |= {"stem": True, "remove_stop_words": True, "ascii_folding": True, "with_position": False}
FORMULA = {"k1": 1.2, "b": 0.75}  # LanceDB's own, which cannot be set

Tell = Callable[[str], None]


def fill(connection: Connection, folder: Path, tell: Tell) -> Table:
    """Writes the current records that are not in the table yet."""
    import pyarrow as pa

    schema = _schema()
    table = connection.create_table(NAME, schema=schema, exist_ok=True)
    parts = (_rows(records) for records in current(folder, after=table.count_rows()) if records.height)
    for first in parts:
        batches = (batch for part in _up_to(COMMIT, chain([first], parts)) for batch in part.to_batches())
        table.add(pa.RecordBatchReader.from_batches(schema, batches), write_parallelism=1)
        tell(f"{table.count_rows():,} articles written")
    return table


def follow(connection: Connection, folder: Path, since: int, tell: Tell) -> Table:
    """Replaces and deletes what files from this place on tell of."""
    table = connection.open_table(NAME)
    pmids, records = news(folder, since)
    gone = set(pmids)
    new = changed = 0
    for frame in records:
        for some in frame.iter_slices(TOGETHER):
            rows = _rows(some)
            told = dict(zip(rows["pmid"].to_pylist(), rows["digest"].to_pylist(), strict=True))
            gone.difference_update(told)
            held = _digests(table, list(told))
            other = [pmid for pmid, digest in told.items() if held.get(pmid) != digest]
            if not other:
                continue
            merge = table.merge_insert("pmid").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(rows.filter(_is_in(rows["pmid"], other)))
            new += sum(pmid not in held for pmid in other)
            changed += sum(pmid in held for pmid in other)
    left = sorted(gone)
    deleted = 0
    for start in range(0, len(left), TOGETHER):
        some = list(_digests(table, left[start : start + TOGETHER]))
        if some:
            table.delete(among(some))
        deleted += len(some)
    tell(f"{new:,} articles new, {changed:,} revised, {deleted:,} deleted")
    return table


def find_by(table: Table, workers: int, tell: Tell) -> None:
    """Makes the indices that are not there, or not of all rows."""
    from lancedb.index import FTS, BTree

    ready = {each.columns[0] for each in table.list_indices() if not each.num_unindexed_rows}
    words = FTS(**TOKENS, memory_limit=MEMORY, num_workers=workers)
    for column, config in {"pmid": BTree(), "digest": BTree(), "text": words}.items():
        if column not in ready:
            tell(f"making the index of {'words' if column == 'text' else column + 's'}")
            table.create_index(column, config=config)


def tidy(table: Table, fresh: bool) -> None:
    """Brings small files together and removes those of no use: of a fresh table also what killed processes left."""
    if fresh:
        table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
    else:
        table.optimize(cleanup_older_than=KEPT)


def forget_words(table: Table) -> None:
    """Drops the index of words. Brought up to date it would go on counting the words of articles that are gone."""
    for each in table.list_indices():
        if each.columns == ["text"]:
            table.drop_index(each.name)


def count_and_sum(table: Table) -> dict[str, Any]:
    """How many articles, and the sum of their digests, which tells what they are in whatever order they stand."""
    total = count = 0
    for batch in table.search().select(["digest"]).limit(None).to_batches():
        digests = batch["digest"].to_numpy(zero_copy_only=False)
        count += len(digests)
        total += int(digests.view(np.uint64).sum(dtype=np.uint64))
    return {"count": count, "sum": f"{total % (1 << 64):016x}"}


def _up_to(count: int, parts: Iterator[Any]) -> Iterator[Any]:
    """Whole parts until there are so many rows."""
    for each in parts:
        yield each
        count -= each.num_rows
        if count <= 0:
            return


def _digests(table: Table, pmids: list[str]) -> dict[str, int]:
    found = table.search().where(among(pmids)).select(["pmid", "digest"]).limit(None).to_arrow()
    return dict(zip(found["pmid"].to_pylist(), found["digest"].to_pylist(), strict=True))


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


def _is_in(column: Any, values: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(column, pa.array(values, pa.string()))


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
            "journal": pa.string(),
            "mesh": lines,
            "publication_types": lines,
            "doi": pa.string(),
            "more": pa.string(),
            "digest": pa.int64(),
        }
    )
