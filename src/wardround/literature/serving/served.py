"""An index behind a server: search and read within limits, without excluded articles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol

from pydantic import Field

from wardround.literature.search.filters import NO_FILTERS, Filters
from wardround.literature.search.hit import Hit, article_pmid
from wardround.literature.search.retrieval import NAMED_FUSIONS, Searchable, default_retriever, search_by_name

MAX_HITS = 100
MAX_QUERY_LENGTH = 50_000  # characters: a long history, not a book

Day = r"^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$"
DateLimit = Annotated[int, Field(ge=0, le=9999)] | Annotated[str, Field(pattern=Day)] | None


def date_limit(limit: int | str | None) -> str | None:
    """A limit of a request as filters have it: a year may come as a number."""
    return f"{limit:04}" if isinstance(limit, int) else limit


class ServableIndex(Searchable, Protocol):
    """An index with a description and articles by PMID."""

    about: dict[str, Any]

    @property
    def fingerprint(self) -> str: ...

    def headings(self, terms: Sequence[str]) -> tuple[str, ...]: ...

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]: ...


@dataclass(frozen=True)
class ServedIndex:
    """An index with the articles that are never returned."""

    index: ServableIndex
    without: tuple[str, ...] = ()  # excluded PMIDs

    @property
    def retrievers(self) -> list[str]:
        """The default first."""
        single = self.index.retrievers
        return list(
            dict.fromkeys([default_retriever(self.index), *(NAMED_FUSIONS if len(single) > 1 else ()), *single])
        )

    def search(self, query: str, retriever: str, k: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        return search_by_name(self.index, query, retriever, k, replace(filters, without=self.without))

    def read(self, pmid: str) -> Hit | None:
        """An article by PMID; None if it is excluded or not in the index."""
        return None if article_pmid(pmid) in self.without else self.index.articles([pmid]).get(pmid)

    def describe(self) -> dict[str, Any]:
        """Identifies the corpus and states its limits."""
        return {
            "fingerprint": self.index.fingerprint,
            "articles": self.index.about["articles"]["count"],
            "retrievers": self.retrievers,
            "without": len(self.without),
            "most_hits": MAX_HITS,
            "longest_query": MAX_QUERY_LENGTH,
        }

    def warm(self) -> None:
        """Runs one search with each retriever: loads its model, and reports what it lacks before the first request."""
        for name in self.index.retrievers:
            self.index.search("warm", name, 1)
