"""The tables of the word index.

documents   one row for each document in the order of their numbers: PMID, length in words, date of publication.
            Rows are only appended, also for revised articles; those before stay as removed documents
words       the pages of the parts. A part is named by its first document; it has a page for the documents of earlier
            parts that were removed with it, under the empty term

A document count, the mean length and the frequency of a term are those of the documents that were not removed, so
results do not depend on how the parts came about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.literature.index.location import Connection, Table
from wardround.literature.words.lists import InvertedLists, invert, join_lists, merge, subtract
from wardround.literature.words.pages import read_lists, write_pages
from wardround.literature.words.terms import Numbers, add_fields, find_terms

DOCUMENTS, WORDS = "documents", "words"
READ_TOGETHER = 5_000  # articles
RUN = 10_000  # documents inverted together
RUNS = 10  # merged in memory, so that a part has few
PART = 500_000  # documents of a part of a new index; the memory of a build grows with it
SMALL = 250_000  # parts that have fewer documents together are merged by updates
MAX_SMALL = 8  # parts
PAGES_PER_BATCH = 1_000
READ = ["pmid", "title", "abstract", "published", "mesh", "publication_types", "languages"]

Note = Callable[[str], None]


def open_tables(connection: Connection) -> tuple[Table, Table]:
    """Documents and words, created if they do not exist."""
    import pyarrow as pa

    documents = pa.schema({"pmid": pa.string(), "length": pa.int32(), "published": pa.int32()})
    words = pa.schema({"part": pa.int64(), "term": pa.string(), "page": pa.large_binary()})
    return (
        connection.create_table(DOCUMENTS, schema=documents, exist_ok=True),
        connection.create_table(WORDS, schema=words, exist_ok=True),
    )


def index_articles(connection: Connection, articles: Table, note: Note) -> None:
    """Adds the articles that are not indexed, in their order; continues where a killed process stopped."""
    documents, words = open_tables(connection)
    first = documents.count_rows()
    words.delete(f"part >= {first}")
    rows = articles.search().select(READ).offset(first).limit(None).to_batches(batch_size=READ_TOGETHER)
    part = _NewPart()
    for run in _runs(rows):
        part.add(run)
        if part.count >= PART:
            first = part.write(documents, words, first, note)
            part = _NewPart()
    if part.count:
        part.write(documents, words, first, note)


class _NewPart:
    """A part in memory, to which runs of articles are added."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[InvertedLists] = []
        self._merged: list[InvertedLists] = []
        self._documents: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        occurrences = find_terms(_texts(rows))
        self._runs.append(invert(add_fields(occurrences, rows), self.count))
        self._documents.append(_described(rows, occurrences.lengths))
        self.count += len(rows)
        if len(self._runs) == RUNS:
            self._merged.append(join_lists(list(self._merge(self._runs))))
            self._runs = []

    def write(self, documents: Table, words: Table, first: int, note: Note) -> int:
        """Writes the part, the documents last, and returns the number of the next document."""
        _add_pages(words, first, self._merge([*self._merged, *self._runs]))
        documents.add(pl.concat(self._documents).to_arrow(), write_parallelism=1)
        note(f"words of {first + self.count:,} articles indexed")
        return first + self.count

    def _merge(self, lists: list[InvertedLists]) -> Iterator[InvertedLists]:
        return merge(lists, [0] * len(lists), pl.concat(self._documents)["length"].to_numpy())


def change_articles(connection: Connection, added: pl.DataFrame, removed: pl.DataFrame) -> None:
    """Adds a part with these articles, and without those whose rows were removed.

    A killed process may leave one of the tables changed: the caller restores both before it tries again.
    """
    if not len(added) and not len(removed):
        return
    documents, words = open_tables(connection)
    first = documents.count_rows()
    occurrences = find_terms(_texts(added))
    lists = subtract(invert(add_fields(occurrences, added)), find_terms(_texts(removed)))
    gone = _numbers(documents, removed["pmid"], removed_documents(words))
    described = _described(added, occurrences.lengths)
    earlier = [start for start in part_starts(words) if start == first]  # a part that only removed documents
    small = _small_parts(words, first + len(added))
    if earlier or len(small) >= MAX_SMALL:
        start = min([*earlier, *small])
        parts, shifts, gone_before = _read_parts(words, start)
        lengths = documents.search().select(["length"]).offset(start).limit(None).to_arrow()["length"].to_numpy()
        merged = merge([*parts, lists], [*shifts, first - start], np.concatenate([lengths, occurrences.lengths]))
        merged_lists = list(merged)
        words.delete(f"part >= {start}")
        _add_pages(words, start, merged_lists, np.sort(np.concatenate([gone_before, gone])))
    else:
        _add_pages(words, first, [lists], gone)
    if len(added):
        documents.add(described.to_arrow(), write_parallelism=1)


def _small_parts(words: Table, total: int) -> list[int]:
    """The first documents of the last parts, as far as they have few documents together."""
    return [start for start in part_starts(words) if total - start <= SMALL]


def _read_parts(words: Table, first: int) -> tuple[list[InvertedLists], list[int], Numbers]:
    """The lists of the parts from a document on, the distances of their first documents, and what they removed."""
    rows = words.search().where(f"part >= {first}").select(["part", "term", "page"]).limit(None).to_arrow()
    pages = pl.DataFrame(rows)
    gone = [np.frombuffer(page, np.int64) for page in pages.filter(pl.col("term") == "")["page"]]
    lists, shifts = [], []
    for (start,), part in sorted(pages.filter(pl.col("term") != "").partition_by("part", as_dict=True).items()):
        lists.append(join_lists([read_lists(page) for page in part.sort("term")["page"]]))
        shifts.append(start - first)
    return lists, shifts, np.concatenate([np.zeros(0, np.int64), *gone])


def count_parts(connection: Connection) -> int:
    return len(part_starts(connection.open_table(WORDS)))


def needs_compaction(connection: Connection) -> bool:
    """Whether documents were removed, or parts could be merged."""
    _, words = open_tables(connection)
    is_short = np.diff(part_starts(words)) < PART
    return bool(is_short.any() or len(removed_documents(words)))


def clear_words(connection: Connection) -> None:
    """Removes all documents and parts."""
    for table in open_tables(connection):
        table.delete("true")


def part_starts(words: Table) -> list[int]:
    """The first document of each part."""
    rows = words.search().select(["part"]).limit(None).to_arrow()
    starts: list[int] = np.unique(rows["part"].to_numpy()).tolist()
    return starts


def removed_documents(words: Table) -> Numbers:
    """The numbers of all documents that were removed."""
    rows = words.search().where("term = ''").select(["page"]).limit(None).to_arrow()
    pages = [np.frombuffer(page, np.int64) for page in rows["page"].to_pylist()]
    return np.concatenate([*pages, np.zeros(0, np.int64)])


def date_number(published: str) -> int:
    """A date as a number: 20240315; a month ends in 00, a year in 0000."""
    year, month, day = (*map(int, published.split("-")), 0, 0)[:3]
    return 10_000 * year + 100 * month + day


def _numbers(documents: Table, pmids: pl.Series, gone: Numbers) -> Numbers:
    """The documents of these PMIDs that were not removed before."""
    if not len(pmids):
        return np.zeros(0, np.int64)
    rows = pl.DataFrame(documents.search().select(["pmid"]).limit(None).to_arrow())
    is_match = rows["pmid"].is_in(pmids.implode()).to_numpy().copy()
    is_match[gone] = False
    return np.flatnonzero(is_match)


def _texts(rows: pl.DataFrame) -> pl.Series:
    return rows.select(pl.concat_str("title", "abstract", separator="\n")).to_series()


def _described(rows: pl.DataFrame, lengths: Numbers) -> pl.DataFrame:
    """The rows of the table of documents."""
    dates = rows["published"].unique().drop_nulls()
    numbers = rows["published"].replace_strict(
        dates, [date_number(date) for date in dates], default=None, return_dtype=pl.Int32
    )
    return pl.DataFrame({"pmid": rows["pmid"], "length": pl.Series(lengths, dtype=pl.Int32), "published": numbers})


def _runs(batches: Any) -> Iterator[pl.DataFrame]:
    """Rows in tables of RUN rows, the last one smaller."""
    frames: list[pl.DataFrame] = []
    count = 0
    for batch in batches:
        frames.append(pl.DataFrame(batch))
        count += batch.num_rows
        if count >= RUN:
            yield pl.concat(frames)
            frames, count = [], 0
    if count:
        yield pl.concat(frames)


def _add_pages(words: Table, part: int, lists: Iterable[InvertedLists], gone: Numbers | Sequence[int] = ()) -> None:
    """Writes the pages of a part in one commit."""
    import pyarrow as pa

    schema = words.schema

    def batches() -> Iterator[Any]:
        rows: list[tuple[str, bytes]] = [("", np.asarray(gone, np.int64).tobytes())] if len(gone) else []
        for piece in lists:
            for row in write_pages(piece):
                rows.append(row)
                if len(rows) == PAGES_PER_BATCH:
                    yield batch(rows)
                    rows = []
        if rows:
            yield batch(rows)

    def batch(rows: list[tuple[str, bytes]]) -> Any:
        terms, pages = zip(*rows, strict=True)
        return pa.record_batch(
            [pa.array([part] * len(rows), pa.int64()), pa.array(terms), pa.array(pages, pa.large_binary())],
            schema=schema,
        )

    words.add(pa.RecordBatchReader.from_batches(schema, batches()), write_parallelism=1)
