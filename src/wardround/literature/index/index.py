"""Index: articles, searched by words or by vectors.

By words it is searched by BM25 (wardround.literature.words): a query is any of its terms, a document is title and
abstract.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.literature.encoders import parse_spec
from wardround.literature.index import about, vectors
from wardround.literature.index.articles import read_rows
from wardround.literature.index.location import Connection, Table, connect, is_address, one_line_errors
from wardround.literature.index.mesh_table import read_thesaurus
from wardround.literature.index.sql import filter_condition, pmid_condition
from wardround.literature.index.vector_scan import inner_products, scan_nearest, vectors_of
from wardround.literature.index.versions import open_version
from wardround.literature.mesh.thesaurus import Thesaurus
from wardround.literature.search.filters import NO_FILTERS, Filters
from wardround.literature.search.hit import Hit, article_pmid
from wardround.literature.words.tables import DOCUMENTS, WORDS
from wardround.literature.words.terms import query_terms, terms_of_queries
from wardround.literature.words.word_index import WordIndex

BM25 = "bm25"
COLUMNS = ["pmid", "title", "abstract", "year", "journal"]
SPARE = 8  # further hits fetched, to see ties at the end of a list without a second search
BATCH = 1_000  # PMIDs looked up together
SCANNED = 1_000  # queries compared with all vectors, or searched by words, in one pass
SHARED = 8  # queries that are worth decoding whole lists
SEARCHES = os.cpu_count() or 1  # at once
ROUNDING = 1e-5  # of an inner product in single precision, more than it can be

ScoredPmids = list[tuple[str, float]]  # PMIDs with their scores, best first
Search = Callable[[int], ScoredPmids]  # up to so many hits


def connect_to_index(location: str | Path) -> tuple[Connection, dict[str, Any]]:
    """The tables of an index, complete or not, and its description."""
    if is_address(location) or (Path(location) / f"{about.NAME}.lance").is_dir():
        connection = connect(location)
        with one_line_errors(location):
            about_index = about.read_about(connection)
        if "articles" in about_index:
            return connection, about_index
    raise WardroundError(f"{location}: is not a literature index; `wardround literature build` makes one")


def check_format(location: str | Path, about_index: dict[str, Any]) -> None:
    """Refuses an index of an earlier version."""
    if "versions" not in about_index["articles"] and about_index["articles"]["state"] in ("whole", "following"):
        raise WardroundError(f"{location}: was built by an earlier version; build it again from its sources")


class Index:
    """An index in its state when it was opened."""

    def __init__(self, location: str | Path, connection: Connection, about_index: dict[str, Any]) -> None:
        self.location = str(location)
        self.connection = connection
        self.about = about_index
        self._tables: dict[str, Table] = {}
        self._encoders: dict[str, Any] = {}

    @classmethod
    def open(cls, location: str | Path) -> Index:
        """Opens an index: a folder, or an address of an object store."""
        connection, about_index = connect_to_index(location)
        check_format(location, about_index)
        if about_index["articles"]["state"] != "whole":
            raise WardroundError(f"{location}: is incomplete: its build or update was stopped; run it again")
        index = cls(location, connection, about_index)
        with one_line_errors(location):
            for name, version in about_index["articles"]["versions"].items():  # whoever updates them
                index._tables[name] = open_version(connection, name, version)
        return index

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the articles and retrievers, however they came into the index."""
        articles = {name: self.about["articles"][name] for name in ("count", "sum")}
        columns = {
            name: {**column["spec"], "encoder": "", **{key: column[key] for key in ("precision",) if key in column}}
            for name, column in self.columns.items()
        }  # a path does not matter
        return blake({"articles": articles, "bm25": self.about["bm25"], "columns": columns}).hex()

    @property
    def columns(self) -> dict[str, Any]:
        """The vector columns that cover all articles, with their encoders."""
        articles = {name: self.about["articles"][name] for name in ("count", "sum")}
        return {
            name: column for name, column in self.about.get("columns", {}).items() if column["articles"] == articles
        }

    @property
    def retrievers(self) -> list[str]:
        return [BM25, *sorted(self.columns)]

    @property
    def default_retrievers(self) -> list[str]:
        """The retrievers used together by default: all but wordllama's static vectors.

        Fused with BM25 those make its hits worse on both sets of docs/literature.md, which decided this.
        """
        kind_by_name = {name: parse_spec(column["spec"]["encoder"])[1] for name, column in self.columns.items()}
        return [name for name in self.retrievers if kind_by_name.get(name) != "wordllama"]

    @property
    def tuned_weights(self) -> dict[str, float]:
        """The weights of `fused` that `literature tune` has learnt, by retriever; empty if none hold for the index."""
        weights: dict[str, float] = self.about.get("tuning", {}).get("weights", {})
        return weights if set(weights) <= set(self.retrievers) else {}

    @property
    def is_fusion_better(self) -> bool:
        """Whether the tuned fusion was better than BM25 on queries that had not chosen its weights."""
        return bool(self.tuned_weights and self.about["tuning"]["helps"])

    def search(self, query: str, retriever: str = BM25, k: int = 10, filters: Filters = NO_FILTERS) -> list[Hit]:
        """The k best articles for any text, best first, ties by PMID. An empty text has no hits."""
        return self.search_all([query], retriever, k, [filters])[0]

    def search_all(
        self, queries: Sequence[str], retriever: str = BM25, k: int = 10, filters: Sequence[Filters] = ()
    ) -> list[list[Hit]]:
        """The hits of many queries, the same as one by one: embedded, compared and looked up together.

        `filters` has one for each query, or none.
        """
        if retriever not in self.retrievers:
            raise WardroundError(
                f"{self.location}: has no retriever {retriever!r}; it has {', '.join(self.retrievers)}"
            )
        texts = [query.encode("utf-8", "replace").decode() for query in queries]
        filters = filters or [NO_FILTERS] * len(texts)
        asked = [place for place, text in enumerate(texts) if k >= 1 and text.strip()]
        chosen_texts, chosen_filters = [texts[place] for place in asked], [filters[place] for place in asked]
        with one_line_errors(self.location):
            if retriever == BM25:
                scored = self._search_all_words(chosen_texts, k, chosen_filters)
            else:
                scored = self._search_all_vectors(chosen_texts, retriever, k, chosen_filters)
        articles = self.articles(list(dict.fromkeys(pmid for pairs in scored for pmid, _ in pairs)))
        hits: list[list[Hit]] = [[] for _ in texts]
        for place, pairs in zip(asked, scored, strict=True):
            hits[place] = [articles[pmid]._replace(score=score) for pmid, score in pairs if pmid in articles]
        return hits

    @cached_property
    def thesaurus(self) -> Thesaurus | None:
        """The MeSH headings with their terms and tree; None if `wardround literature mesh` has not added them."""
        with one_line_errors(self.location):
            return read_thesaurus(self.connection)

    def headings(self, terms: Sequence[str]) -> tuple[str, ...]:
        """The headings for a filter: with a thesaurus those of the terms and all narrower ones, else as they are."""
        if self.thesaurus is None:
            return tuple(terms)
        return tuple(sorted({heading for term in terms for heading in self.thesaurus.explode(term)}))

    def expand(self, query: str) -> str:
        """The query with the headings of its terms."""
        if self.thesaurus is None:
            raise WardroundError(
                f"{self.location}: has no MeSH headings to expand queries; `wardround literature mesh` adds them"
            )
        return self.thesaurus.expand(query)

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]:
        """Articles by PMID, with score 0; those that are not in the index are left out."""
        hits = {}
        for start in range(0, len(pmids), BATCH):
            batch = pmids[start : start + BATCH]
            for row in self._rows(pmid_condition(batch), COLUMNS):
                hits[row["pmid"]] = _hit(row)
        return {pmid: hits[pmid] for pmid in pmids if pmid in hits}

    def sample(self, count: int, seed: str, without: Sequence[str] = ()) -> list[Hit]:
        """Articles sampled by a seed, the same for the same fingerprint: those whose digests follow the seed's."""
        excluded = set(without)
        start = int.from_bytes(hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)
        total_range = 1 << 64
        width = 2 * (count + len(excluded) + SPARE) * total_range // max(1, self.about["articles"]["count"])
        while True:
            rows = self._rows(_digest_range(start, min(width, total_range)), [*COLUMNS, "digest"])
            rows = [row for row in rows if article_pmid(row["pmid"]) not in excluded]
            if len(rows) >= count or width >= total_range:
                rows.sort(key=lambda row: ((row["digest"] - start) % total_range, row["pmid"]))
                return [_hit(row) for row in rows[:count]]
            width *= 4

    def table(self, name: str) -> Table:
        """One of its tables."""
        if name not in self._tables:
            with one_line_errors(self.location):
                self._tables[name] = self.connection.open_table(name)
        return self._tables[name]

    def _rows(self, where: str, columns: list[str]) -> list[dict[str, Any]]:
        with one_line_errors(self.location):
            rows: list[dict[str, Any]] = read_rows(self.table("articles"), where, columns).to_pylist()
        return rows

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self.table(DOCUMENTS), self.table(WORDS))

    def _search_all_words(self, queries: Sequence[str], k: int, filters: Sequence[Filters]) -> list[ScoredPmids]:
        """By BM25; many queries with the same filters share the reading and decoding of lists."""
        searches = [self._search_words(*pair) for pair in zip(queries, filters, strict=True)]
        places_by_filter: dict[Filters, list[int]] = {}
        for place, filter_ in enumerate(filters):
            places_by_filter.setdefault(replace(filter_, without=()), []).append(place)
        for filter_, places in places_by_filter.items():
            for start in range(0, len(places), SCANNED):
                block = places[start : start + SCANNED]
                if len(block) < SHARED:
                    continue
                limit = k + max(len(filters[place].without) for place in block) + SPARE
                terms = terms_of_queries([queries[place] for place in block])
                results = self._words.search_all(terms, len(block), limit, filter_)
                pmids = self._words.pmids(np.concatenate([documents for documents, _ in results]))
                end = 0
                for place, (documents, scores) in zip(block, results, strict=True):
                    start_of_own, end = end, end + len(documents)
                    pairs = list(zip(pmids[start_of_own:end], scores.tolist(), strict=True))
                    searches[place] = _scanned(pairs, limit, searches[place])
        return _best_of_all(searches, k, filters)

    def _search_words(self, query: str, filters: Filters) -> Search:
        def search(limit: int) -> ScoredPmids:
            documents, scores = self._words.search(query_terms(query), limit, filters)
            return list(zip(self._words.pmids(documents), scores.tolist(), strict=True))

        return search

    def _search_all_vectors(
        self, queries: Sequence[str], name: str, k: int, filters: Sequence[Filters]
    ) -> list[ScoredPmids]:
        """By inner product with the vectors of the queries."""
        if name not in self._encoders:
            self._encoders[name] = vectors.load_column_encoder(self.columns[name]["spec"])
        table, query_vectors = self.table(vectors.table_of(name)), self._encoders[name].queries(queries)
        searches = [_nearest(table, *pair) for pair in zip(query_vectors, filters, strict=True)]
        if len(queries) > 1 and vectors.is_exact(table):
            places_by_condition: dict[str, list[int]] = {}
            for place, filter_ in enumerate(filters):
                places_by_condition.setdefault(filter_condition(filter_), []).append(place)
            limit = k + max(len(filter_.without) for filter_ in filters) + SPARE
            for condition, places in places_by_condition.items():
                for start in range(0, len(places), SCANNED):
                    block = places[start : start + SCANNED]
                    nearest = scan_nearest(table, query_vectors[block], condition, limit)
                    for place, pairs in zip(block, nearest, strict=True):
                        searches[place] = _scanned(pairs, limit, searches[place])
        roundings = [ROUNDING * max(1.0, float(vector @ vector)) for vector in query_vectors]
        return _best_of_all(searches, k, filters, roundings if vectors.is_exact(table) else ())


def _nearest(table: Table, vector: Any, filters: Filters) -> Search:
    """By LanceDB; a zero vector has no hits."""
    if not vector.any():
        return lambda limit: []
    condition, is_exact = filter_condition(filters), vectors.is_exact(table)

    def search(limit: int) -> ScoredPmids:
        rows = vectors.nearest_rows(table, vector, condition, limit)
        if not is_exact:
            return _scored(rows, "_distance", -1, 1)
        scored = zip(rows["pmid"].to_pylist(), inner_products(vectors_of(rows), vector), strict=True)
        return sorted(scored, key=lambda pair: -pair[1])

    return search


def _scanned(pairs: ScoredPmids, limit: int, search: Search) -> Search:
    """A search that has been made for up to `limit` hits."""
    return lambda wanted: pairs[:wanted] if wanted <= limit or len(pairs) < limit else search(wanted)


def _best_of_all(
    searches: Sequence[Search], k: int, filters: Sequence[Filters], roundings: Sequence[float] = ()
) -> list[ScoredPmids]:
    """The k best of each search, several searches at once."""
    without = [frozenset(filter_.without) for filter_ in filters]
    jobs = zip(searches, without, roundings or [0.0] * len(searches), strict=True)
    if len(searches) == 1:
        return [_best(search, k, excluded, rounding) for search, excluded, rounding in jobs]
    with ThreadPoolExecutor(SEARCHES) as pool:
        return list(pool.map(lambda job: _best(job[0], k, job[1], job[2]), jobs))


def _best(search: Search, k: int, without: frozenset[str], rounding: float = 0.0) -> ScoredPmids:
    """The k best of a search that returns an arbitrary choice of equals; `rounding` is the error of its choice."""
    limit = k + len(without) + SPARE
    while True:
        scored = search(limit)
        allowed_pairs = [pair for pair in scored if article_pmid(pair[0]) not in without]
        if len(scored) < limit or (len(allowed_pairs) >= k and allowed_pairs[k - 1][1] > scored[-1][1] + rounding):
            return sorted(allowed_pairs, key=lambda pair: (-pair[1], pair[0]))[:k]
        limit *= 4


def _scored(rows: Any, column: str, sign: int, base: int = 0) -> ScoredPmids:
    scores = (base + sign * score for score in rows[column].to_pylist())
    return sorted(zip(rows["pmid"].to_pylist(), scores, strict=True), key=lambda pair: -pair[1])


def _digest_range(start: int, width: int) -> str:
    """The condition for `width` digests from `start` on, wrapping around at the largest."""
    end = start + width - 1
    if end < 1 << 63:
        return f"digest >= {start} AND digest <= {end}"
    return f"digest >= {start} OR digest <= {end - (1 << 64)}"


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(row["pmid"], 0.0, row["title"], row["abstract"], row["year"], row["journal"])
