"""Index: articles, found by their words or by their vectors.

BM25 is LanceDB's: k1 = 1.2 and b = 0.75, which it fixes, idf = ln(1 + (N - n + 0.5) / (n + 0.5)), a query as any of
its terms, each as often as it is written. A document is title and abstract. Terms are runs of letters and digits in
lower case without accents, of at most 40 characters, without English stop words, stemmed by Snowball's English rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.literature.encoders import named
from wardround.literature.index import about, vectors
from wardround.literature.index.location import Connection, Table, connect, is_address, refusals
from wardround.literature.index.sql import allowed, among
from wardround.literature.search.filters import ANYTHING, Filters
from wardround.literature.search.hit import Hit

BM25 = "bm25"
SHOWN = ["pmid", "title", "abstract", "year", "journal"]
SPARE = 8  # hits fetched beyond those asked for: ties at the end of a list are seen without a second search
AT_ONCE = 1_000  # PMIDs looked up together

Scored = list[tuple[str, float]]  # PMIDs with their scores, best first


class Index:
    """An index as it was when it was opened."""

    def __init__(self, place: str | Path, connection: Connection, told: dict[str, Any]) -> None:
        self.place = str(place)
        self.connection = connection
        self.about = told
        self._tables: dict[str, Table] = {}
        self._encoders: dict[str, Any] = {}

    @classmethod
    def open(cls, place: str | Path) -> Index:
        """The index at a place: a folder, or an address of an object store."""
        if not is_address(place) and not (Path(place) / f"{about.NAME}.lance").is_dir():
            raise WardroundError(f"{place}: is not an index of literature; `wardround literature build` makes one")
        connection = connect(place)
        with refusals(place):
            told = about.told(connection)
        if "articles" not in told:
            raise WardroundError(f"{place}: is not an index of literature; `wardround literature build` makes one")
        if told["articles"]["state"] != "whole":
            raise WardroundError(f"{place}: is not whole: its build or update was stopped; run it again")
        index = cls(place, connection, told)
        index.table("articles")  # from now on it is this one, whoever updates it
        return index

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same articles and retrievers, however they came into the index; else another."""
        articles = {name: self.about["articles"][name] for name in ("count", "sum")}
        columns = {name: {**told["spec"], "encoder": ""} for name, told in self.columns.items()}  # wherever it lies
        return blake({"articles": articles, "bm25": self.about["bm25"], "columns": columns}).hex()

    @property
    def columns(self) -> dict[str, Any]:
        """The vector columns that hold all articles, with their encoders."""
        articles = {name: self.about["articles"][name] for name in ("count", "sum")}
        return {name: told for name, told in self.about.get("columns", {}).items() if told["articles"] == articles}

    @property
    def retrievers(self) -> list[str]:
        return [BM25, *sorted(self.columns)]

    @property
    def usual(self) -> list[str]:
        """The retrievers that search together unless others are named: all but wordllama's static vectors.

        Fused with BM25 these make its hits worse, on both sets of docs/literature.md, after which this was chosen.
        """
        kinds = {name: named(told["spec"]["encoder"])[1] for name, told in self.columns.items()}
        return [name for name in self.retrievers if kinds.get(name) != "wordllama"]

    def search(self, query: str, retriever: str = BM25, k: int = 10, filters: Filters = ANYTHING) -> list[Hit]:
        """The k best articles for any text, best first, ties by PMID. An empty text finds nothing."""
        if retriever not in self.retrievers:
            raise WardroundError(f"{self.place}: has no retriever {retriever!r}; it has {', '.join(self.retrievers)}")
        query = query.encode("utf-8", "replace").decode()
        if k < 1 or not query.strip():
            return []
        search = self._words(query, filters) if retriever == BM25 else self._nearest(query, retriever, filters)
        with refusals(self.place):
            found = _best(search, k, frozenset(filters.without))
        articles = self.articles([pmid for pmid, _ in found])
        return [articles[pmid]._replace(score=score) for pmid, score in found if pmid in articles]

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]:
        """Articles by their PMIDs, with the score 0; those that are not in the index are left out."""
        found = {}
        for start in range(0, len(pmids), AT_ONCE):
            some = pmids[start : start + AT_ONCE]
            for row in self._rows(among(some), SHOWN):
                found[row["pmid"]] = _hit(row)
        return {pmid: found[pmid] for pmid in pmids if pmid in found}

    def some(self, count: int, seed: str, without: Sequence[str] = ()) -> list[Hit]:
        """Articles drawn by a seed, the same for the same fingerprint: those whose digests follow the seed's."""
        left = set(without)
        start = int.from_bytes(hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)
        whole = 1 << 64
        wide = 2 * (count + len(left) + SPARE) * whole // max(1, self.about["articles"]["count"])
        while True:
            rows = self._rows(_following(start, min(wide, whole)), [*SHOWN, "digest"])
            rows = [row for row in rows if row["pmid"] not in left]
            if len(rows) >= count or wide >= whole:
                rows.sort(key=lambda row: ((row["digest"] - start) % whole, row["pmid"]))
                return [_hit(row) for row in rows[:count]]
            wide *= 4

    def table(self, name: str) -> Table:
        """One of its tables."""
        if name not in self._tables:
            with refusals(self.place):
                self._tables[name] = self.connection.open_table(name)
        return self._tables[name]

    def _rows(self, where: str, columns: list[str]) -> list[dict[str, Any]]:
        with refusals(self.place):
            return self.table("articles").search().where(where).select(columns).limit(None).to_list()

    def _words(self, query: str, filters: Filters) -> Callable[[int], Scored]:
        from lancedb.query import MatchQuery

        found = _where(self.table("articles").search(MatchQuery(query, "text")), allowed(filters))
        return lambda limit: _scored(found.select(["pmid", "_score"]).limit(limit).to_arrow(), "_score", 1)

    def _nearest(self, query: str, name: str, filters: Filters) -> Callable[[int], Scored]:
        """By inner product with the query's vector; one that has no direction is near to nothing."""
        if name not in self._encoders:
            self._encoders[name] = vectors.encoder_of(self.columns[name]["spec"])
        vector = self._encoders[name].queries([query])[0]
        if not vector.any():
            return lambda limit: []
        table, condition = self.table(vectors.table_of(name)), allowed(filters)
        return lambda limit: _scored(vectors.nearest(table, vector, condition, limit), "_distance", -1, 1)


def _where(search: Any, condition: str) -> Any:
    return search.where(condition, prefilter=True) if condition else search


def _best(search: Callable[[int], Scored], k: int, without: frozenset[str]) -> Scored:
    """The k best of a search that leaves open which of equals it returns."""
    limit = k + len(without) + SPARE
    while True:
        found = search(limit)
        kept = [each for each in found if each[0] not in without]
        if len(found) < limit or (len(kept) >= k and kept[k - 1][1] > found[-1][1]):
            return sorted(kept, key=lambda each: (-each[1], each[0]))[:k]
        limit *= 4


def _scored(found: Any, column: str, sign: int, base: int = 0) -> Scored:
    scores = (base + sign * score for score in found[column].to_pylist())
    return sorted(zip(found["pmid"].to_pylist(), scores, strict=True), key=lambda each: -each[1])


def _following(start: int, wide: int) -> str:
    """Digests from `start` on, beyond the largest number again from the smallest."""
    end = start + wide - 1
    if end < 1 << 63:
        return f"digest >= {start} AND digest <= {end}"
    return f"digest >= {start} OR digest <= {end - (1 << 64)}"


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(row["pmid"], 0.0, row["title"], row["abstract"], row["year"], row["journal"])
