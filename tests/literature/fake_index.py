"""An index in memory: articles, and for each retriever how it scores an article for a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wardround.literature.search.filters import NO_FILTERS, Filters
from wardround.literature.search.hit import Hit

Score = Callable[[str, Hit], float]


def shared_words(query: str, hit: Hit) -> float:
    return float(len(set(query.lower().split()) & set(f"{hit.title} {hit.abstract}".lower().split())))


def shared_letters(query: str, hit: Hit) -> float:
    return len(set(query.lower()) & set(hit.title.lower())) / 26


class FakeIndex:
    """Searches as an Index does, by looking at every article."""

    fingerprint = "fake"

    def __init__(self, hits: Sequence[Hit], scores: Mapping[str, Score] | None = None) -> None:
        self._hits = {hit.pmid: hit._replace(score=0.0) for hit in hits}
        self._scores = dict(scores or {"bm25": shared_words, "letters": shared_letters})
        self.about = {"articles": {"count": len(self._hits)}}
        self.asked: list[tuple[str, str, int, Filters]] = []

    @property
    def retrievers(self) -> list[str]:
        return list(self._scores)

    default_retrievers = retrievers
    tuned_weights: dict[str, float] = {}
    is_fusion_better = False

    def search(self, query: str, retriever: str = "bm25", k: int = 10, filters: Filters = NO_FILTERS) -> list[Hit]:
        self.asked.append((query, retriever, k, filters))
        scored = [hit._replace(score=self._scores[retriever](query, hit)) for hit in self._hits.values()]
        kept = [hit for hit in scored if hit.score > 0 and hit.pmid not in filters.without and _in_years(hit, filters)]
        return sorted(kept, key=lambda hit: (-hit.score, hit.pmid))[:k]

    def search_all(
        self, queries: Sequence[str], retriever: str = "bm25", k: int = 10, filters: Sequence[Filters] = ()
    ) -> list[list[Hit]]:
        filters = filters or [NO_FILTERS] * len(queries)
        return [self.search(query, retriever, k, own) for query, own in zip(queries, filters, strict=True)]

    def headings(self, terms: Sequence[str]) -> tuple[str, ...]:
        return tuple(terms)

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]:
        return {pmid: self._hits[pmid] for pmid in pmids if pmid in self._hits}


def _in_years(hit: Hit, filters: Filters) -> bool:
    year = str(hit.year or "")
    return (filters.since is None or year >= filters.since) and (filters.until is None or "" < year <= filters.until)
