"""WordIndex: searches the parts of the word index by BM25 and by filters.

idf = ln(1 + (N - n + 0.5) / (n + 0.5)); k1 = 1.2, b = 0.75; a term that a query repeats counts repeatedly.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wardround.literature.index.location import Table
from wardround.literature.search.filters import Filters
from wardround.literature.words.batch_scoring import BestDocuments, PartLists, WeightedTerms, score_part_for_all
from wardround.literature.words.pages import read_page
from wardround.literature.words.postings import K1, REFERENCE_LENGTH, Array, B, Bytes, decode_list
from wardround.literature.words.scoring import score_part
from wardround.literature.words.tables import date_number
from wardround.literature.words.terms import FIELD_PREFIX, MAX_WORD_BYTES, QueryTerms

BM25_RULES = {
    "engine": "wardround",
    "k1": K1,
    "b": B,
    "max_word_bytes": MAX_WORD_BYTES,
    "stemmer": "english",
    "remove_stop_words": True,
    "remove_accents": True,
}  # part of an index's fingerprint

THREADS = os.cpu_count() or 1  # that score a batch

ScoredDocuments = tuple[Array, Array]  # numbers of documents, and their scores; best first


@dataclass(frozen=True)
class PartPages:
    """Where the pages of a part are: their first terms in order, and their rows."""

    first: int  # document
    count: int  # documents
    terms: list[str]
    rows: Array


@dataclass(frozen=True)
class TermList:
    """The list of a term in a part."""

    size: int
    added: int
    peak: int
    data: Bytes


class WordIndex:
    """The word index in its state when it was opened."""

    def __init__(self, documents: Table, words: Table) -> None:
        self._documents, self._words = documents, words
        lengths = documents.search().select(["length"]).limit(None).to_arrow()["length"]
        self._lengths = lengths.to_numpy().astype(np.uint16)
        self._parts, gone = self._read_parts()
        self._is_live = np.ones(len(self._lengths), np.bool_)
        self._is_live[gone] = False
        self.count = int(self._is_live.sum())
        mean = self._lengths[self._is_live].sum(dtype=np.int64) / self.count if self.count else 1.0
        mean = mean or 1.0
        longest = int(self._lengths.max(initial=0))
        self._norms = (K1 * (1 - B + B * np.arange(longest + 1) / mean)).astype(np.float32)
        self._stretch = max(1.0, mean / REFERENCE_LENGTH) / 255

    def search(self, often: dict[str, int], limit: int, filters: Filters) -> ScoredDocuments:
        """The documents with the highest scores that pass the filters, single PMIDs aside.

        A query is its terms with how often it has each.
        """
        lists = self._read_lists(often)
        frequency = {term: sum(entry.added for entry in by_part.values()) for term, by_part in lists.items()}
        weights = {term: often[term] * (K1 + 1) * self._inverse_frequency(n) for term, n in frequency.items() if n}
        terms = sorted(weights, key=lambda term: (-weights[term], term))
        scores, documents = np.zeros(limit, np.float32), np.zeros(limit, np.int64)
        count = 0
        for number, (part, allowed) in enumerate(zip(self._parts, self._allowed(filters), strict=True)):
            present = [term for term in terms if number in lists[term] and lists[term][number].size]
            if not present or allowed is None:
                continue
            entries = [lists[term][number] for term in present]
            weight = np.array([weights[term] for term in present], np.float32)
            bounds = weight.astype(np.float64) * self._stretch * [entry.peak for entry in entries]
            ends = np.cumsum([len(entry.data) for entry in entries])
            count = score_part(
                np.concatenate([entry.data for entry in entries]),
                ends - [len(entry.data) for entry in entries],
                np.array([entry.size for entry in entries]),
                weight,
                bounds,
                self._stretch,
                self._lengths[part.first : part.first + part.count],
                self._norms,
                allowed,
                part.first,
                scores,
                documents,
                count,
            )
        return _best_first(scores, documents, count)

    def search_all(self, queries: QueryTerms, count: int, limit: int, filters: Filters) -> list[ScoredDocuments]:
        """What search() finds for each of `count` queries with the same filters. Lists are read and decoded once."""
        frequency = np.zeros(len(queries.terms), np.int64)
        for number in range(len(self._parts)):
            for place, entry in self._lists_of_part(queries.terms, number):
                frequency[place] += entry.added
        inverse = np.array([self._inverse_frequency(n) if n else 0.0 for n in frequency.tolist()])
        weights = queries.often * (K1 + 1) * inverse[queries.term]
        order = np.lexsort((queries.term, -weights, queries.query))
        order = order[weights[order] > 0]
        starts = np.searchsorted(queries.query[order], np.arange(count + 1))
        weighted = WeightedTerms(starts, queries.term[order], weights[order].astype(np.float32))
        best = BestDocuments.none(count, limit)
        with ThreadPoolExecutor(THREADS) as pool:
            for number, (part, allowed) in enumerate(zip(self._parts, self._allowed(filters), strict=True)):
                if allowed is not None:
                    lists = _joined(self._lists_of_part(queries.terms, number), len(queries.terms))
                    lengths = self._lengths[part.first : part.first + part.count]
                    score_part_for_all(lists, weighted, lengths, self._norms, allowed, part.first, best, pool)
        return [_best_first(*heap) for heap in zip(*best, strict=True)]

    def pmids(self, documents: Array) -> list[str]:
        """The PMIDs of documents."""
        if not len(documents):
            return []
        offsets, places = np.unique(documents, return_inverse=True)
        rows = self._documents.take_offsets(offsets.tolist()).select(["pmid"]).to_arrow()["pmid"].to_pylist()
        return [rows[place] for place in places]

    def _inverse_frequency(self, n: int) -> float:
        return math.log(1 + (self.count - n + 0.5) / (n + 0.5))

    def _allowed(self, filters: Filters) -> Iterable[Array | None]:
        """For each part whether each document is there and passes the filters; None if none does."""
        wanted = {
            field: [FIELD_PREFIX[field] + name for name in getattr(filters, field)]
            for field in FIELD_PREFIX
            if getattr(filters, field)
        }
        lists = self._read_lists([term for terms in wanted.values() for term in terms])
        for number, part in enumerate(self._parts):
            documents = slice(part.first, part.first + part.count)
            is_allowed = self._is_live[documents]
            if filters.since is not None:
                is_allowed = is_allowed & (self._published[documents] >= date_number(filters.since))
            if filters.until is not None:
                is_allowed = is_allowed & (self._published_at_latest[documents] <= _latest(date_number(filters.until)))
            for terms in wanted.values():
                matches = np.zeros(part.count, np.bool_)
                for term in terms:
                    if entry := lists.get(term, {}).get(number):
                        numbers, often = np.empty(entry.size, np.int64), np.empty(entry.size, np.uint8)
                        decode_list(entry.data, 0, entry.size, numbers, often)
                        matches[numbers] = True
                is_allowed = is_allowed & matches
            yield is_allowed if is_allowed.any() else None

    @cached_property
    def _published(self) -> Array:
        """The dates of documents; a negative number for none."""
        rows = self._documents.search().select(["published"]).limit(None).to_arrow()["published"]
        dates: Array = rows.fill_null(-1).to_numpy()
        return dates

    @cached_property
    def _published_at_latest(self) -> Array:
        """The last days that the dates of documents allow; after all limits for those without a date."""
        return np.where(self._published < 0, np.iinfo(np.int32).max, _latest(self._published))

    def _read_parts(self) -> tuple[list[PartPages], Array]:
        """The parts, and the documents that were removed."""
        columns = self._words.search().select(["part", "term"]).with_row_id(True).limit(None).to_arrow()
        parts, rows = columns["part"].to_numpy(), columns["_rowid"].to_numpy()
        terms = np.array(columns["term"].to_pylist(), object)
        gone_rows = rows[terms == ""]
        gone = [np.frombuffer(page, np.int64) for page in self._read_pages(gone_rows.tolist())]
        starts = np.unique(parts).tolist()
        described = []
        ends = [*starts[1:], len(self._lengths)]
        for start, end in zip(starts, ends, strict=False):  # no parts: no documents either
            places = np.flatnonzero((parts == start) & (terms != ""))
            described.append(PartPages(start, end - start, terms[places].tolist(), rows[places]))
        return described, np.concatenate([np.zeros(0, np.int64), *gone])

    def _read_pages(self, rows: list[int]) -> list[bytes]:
        """The pages of rows, in the order of the rows."""
        if not rows:
            return []
        table: Any = self._words.take_row_ids(rows).select(["page"]).with_row_id().to_arrow()
        page_by_row = dict(zip(table["_rowid"].to_pylist(), table["page"].to_pylist(), strict=True))
        return [page_by_row[row] for row in rows]

    def _lists_of_part(self, terms: Sequence[str], part: int) -> Iterator[tuple[int, TermList]]:
        """The positions of terms that a part has, and their lists."""
        lists = self._read_lists(terms, [part])
        for place, term in enumerate(terms):
            if entry := lists[term].get(part):
                yield place, entry

    def _read_lists(self, terms: Iterable[str], parts: Iterable[int] | None = None) -> dict[str, dict[int, TermList]]:
        """The lists of terms by the numbers of their parts."""
        places: dict[int, list[tuple[str, int]]] = {}  # terms and parts by row
        for number in range(len(self._parts)) if parts is None else parts:
            part = self._parts[number]
            for term in terms:
                if (place := bisect_right(part.terms, term) - 1) >= 0:
                    places.setdefault(int(part.rows[place]), []).append((term, number))
        rows = sorted(places)
        lists: dict[str, dict[int, TermList]] = {term: {} for term in terms}
        for row, content in zip(rows, self._read_pages(rows), strict=True):
            page = read_page(content)
            for term, number in places[row]:
                place = bisect_left(page.terms, term)
                if place < len(page.terms) and page.terms[place] == term:
                    lists[term][number] = TermList(
                        size=int(page.sizes[place]),
                        added=int(page.added[place]),
                        peak=int(page.peaks[place]),
                        data=page.data[page.starts[place] : page.starts[place + 1]],
                    )
        return lists


def _best_first(scores: Array, documents: Array, count: int) -> ScoredDocuments:
    """The entries of a heap."""
    order = np.lexsort((documents[:count], -scores[:count]))
    return documents[order], scores[order]


def _joined(lists: Iterable[tuple[int, TermList]], count: int) -> PartLists:
    """Lists with their positions among `count` terms as one block of bytes."""
    starts, sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    pieces, end = [np.zeros(0, np.uint8)], 0
    for place, entry in lists:
        starts[place], sizes[place] = end, entry.size
        pieces.append(entry.data)
        end += len(entry.data)
    return PartLists(np.concatenate(pieces), starts, sizes)


def _latest(dates: Any) -> Any:
    """The last days of dates; the months of a year and the days of a month count as up to 99."""
    return dates + np.where(dates % 10_000 == 0, 9_999, np.where(dates % 100 == 0, 99, 0))
