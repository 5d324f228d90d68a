"""What every server over an index does: search and read within limits, without the articles that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from wardround.literature.search.filters import ANYTHING, Filters
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import NAMED, Searched, find, usual_search

MOST_HITS = 100
LONGEST_QUERY = 50_000  # characters: a long history, not a book


class Index(Searched, Protocol):
    """What an index tells beside its hits."""

    about: dict[str, Any]

    @property
    def fingerprint(self) -> str: ...

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]: ...


@dataclass(frozen=True)
class Served:
    """An index as it is served."""

    index: Index
    without: tuple[str, ...] = ()  # PMIDs that nobody is given

    @property
    def retrievers(self) -> list[str]:
        """The default first."""
        single = self.index.retrievers
        return list(dict.fromkeys([usual_search(self.index), *(NAMED if len(single) > 1 else ()), *single]))

    def search(self, query: str, retriever: str, k: int, filters: Filters = ANYTHING) -> list[Hit]:
        return find(self.index, query, retriever, k, replace(filters, without=self.without))

    def read(self, pmid: str) -> Hit | None:
        """An article; one that is left out is not there."""
        return None if pmid in self.without else self.index.articles([pmid]).get(pmid)

    def told(self) -> dict[str, Any]:
        """What the corpus is, so that two examinations can be known to have had the same."""
        return {
            "fingerprint": self.index.fingerprint,
            "articles": self.index.about["articles"]["count"],
            "retrievers": self.retrievers,
            "without": len(self.without),
            "most_hits": MOST_HITS,
            "longest_query": LONGEST_QUERY,
        }

    def warm(self) -> None:
        """One search each: what a retriever lacks is said before anyone asks, and its model is loaded."""
        for name in self.index.retrievers:
            self.index.search("warm", name, 1)
