"""Retrieval: the articles for a query from several retrievers, fused and optionally reranked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from wardround.core.errors import WardroundError
from wardround.literature.search.filters import NO_FILTERS, Filters
from wardround.literature.search.fusion import best_first, fuse_paper, fuse_rrf
from wardround.literature.search.hit import Hit

FUSIONS = ("paper", "rrf")
COMBINES = ("mean", "max")


class Searchable(Protocol):
    """An Index, or anything that searches like one."""

    @property
    def retrievers(self) -> list[str]: ...

    @property
    def default_retrievers(self) -> list[str]: ...

    @property
    def tuned_weights(self) -> dict[str, float]: ...

    @property
    def is_fusion_better(self) -> bool: ...

    def search(self, query: str, retriever: str = "bm25", k: int = 10, filters: Filters = NO_FILTERS) -> list[Hit]: ...

    def search_all(
        self, queries: Sequence[str], retriever: str = "bm25", k: int = 10, filters: Sequence[Filters] = ()
    ) -> list[list[Hit]]: ...


@dataclass(frozen=True)
class Retrieval:
    """How articles are retrieved. The defaults are the paper's, with retrievers that need no set-up."""

    retrievers: tuple[str, ...] = ("bm25", "wordllama")
    depth: int = 5  # hits of each retriever that are fused
    fusion: str = "paper"  # or "rrf"
    weights: tuple[float, ...] = ()  # one for each retriever; none: equal
    k: int = 10  # hits that are kept at the end
    combine: str = "mean"  # or "max"; of the paper's fusion
    reranker: str | None = None  # reorders all fused hits before k of them are kept

    def __post_init__(self) -> None:
        if not self.retrievers:
            raise WardroundError("retrieval: no retriever is named")
        if len(set(self.retrievers)) < len(self.retrievers):
            raise WardroundError(f"retrieval: a retriever is named twice: {', '.join(self.retrievers)}")
        if self.fusion not in FUSIONS:
            raise WardroundError(f"retrieval: fusion is {' or '.join(FUSIONS)}, not {self.fusion!r}")
        if self.combine not in COMBINES:
            raise WardroundError(f"retrieval: combine is {' or '.join(COMBINES)}, not {self.combine!r}")
        if self.depth < 1 or self.k < 1:
            raise WardroundError(f"retrieval: depth and k are 1 or more, not {self.depth} and {self.k}")
        if self.weights and len(self.weights) != len(self.retrievers):
            raise WardroundError(
                f"retrieval: {len(self.weights)} weights for {len(self.retrievers)} retrievers; one for each, or none"
            )
        if self.weights and not (all(0 <= weight < float("inf") for weight in self.weights) and any(self.weights)):
            raise WardroundError("retrieval: weights are finite numbers from 0 up, and not all 0")


NAMED_FUSIONS = {
    "fused": Retrieval(fusion="rrf", depth=100),
    "fused-paper": Retrieval(),
}  # over all retrievers of an index


def retrieve(index: Searchable, query: str, retrieval: Retrieval, filters: Filters = NO_FILTERS) -> list[Hit]:
    """The best k articles for a query, best first, ties by PMID; deterministic for an index."""
    return retrieve_all(index, [query], retrieval, [filters])[0]


def retrieve_all(
    index: Searchable, queries: Sequence[str], retrieval: Retrieval, filters: Sequence[Filters] = ()
) -> list[list[Hit]]:
    """The best k articles for each query, the same as one by one. `filters` has one for each query, or none."""
    if missing := [name for name in retrieval.retrievers if name not in index.retrievers]:
        raise WardroundError(f"the index has no retriever {', '.join(missing)}; it has {', '.join(index.retrievers)}")
    by_retriever = [index.search_all(queries, name, retrieval.depth, filters) for name in retrieval.retrievers]
    fused = [fuse(hit_lists, retrieval) for hit_lists in zip(*by_retriever, strict=True)]
    if retrieval.reranker is not None:
        reranker = retrieval.reranker
        fused = [_rerank(reranker, query, hits) if hits else [] for query, hits in zip(queries, fused, strict=True)]
    return [hits[: retrieval.k] for hits in fused]


def fuse(hit_lists: Sequence[Sequence[Hit]], retrieval: Retrieval) -> list[Hit]:
    """The hits of each retriever as one list."""
    if retrieval.fusion == "rrf":
        return fuse_rrf(hit_lists, retrieval.depth, retrieval.weights)
    return fuse_paper(hit_lists, retrieval.depth, retrieval.weights, retrieval.combine)


def search_by_name(
    index: Searchable, query: str, retriever: str = "fused", k: int = 10, filters: Filters = NO_FILTERS
) -> list[Hit]:
    """Searches with a retriever of the index, or with all of them as `fused` or `fused-paper`.

    `fused` has the weights that `literature tune` has learnt, if the index has any.
    """
    return search_all_by_name(index, [query], retriever, k, filters)[0]


def search_all_by_name(
    index: Searchable, queries: Sequence[str], retriever: str = "fused", k: int = 10, filters: Filters = NO_FILTERS
) -> list[list[Hit]]:
    """The hits of each query, the same as one by one."""
    filters_by_query = [filters] * len(queries)
    if retriever in NAMED_FUSIONS:
        weights = index.tuned_weights if retriever == "fused" else {}
        names = tuple(weights or index.retrievers)
        retrieval = replace(NAMED_FUSIONS[retriever], retrievers=names, weights=tuple(weights.values()), k=k)
        return retrieve_all(index, queries, retrieval, filters_by_query)
    return index.search_all(queries, retriever, k, filters_by_query)


def default_retriever(index: Searchable) -> str:
    """The default retriever: `bm25`, unless `literature tune` has shown that `fused` is better on this index."""
    return "fused" if index.is_fusion_better else "bm25"


def _rerank(reranker: str, query: str, hits: list[Hit]) -> list[Hit]:
    scores = _load_reranker(reranker).scores(query, [(hit.title, hit.abstract) for hit in hits])
    return best_first(hit._replace(score=float(score)) for hit, score in zip(hits, scores, strict=True))


@lru_cache(maxsize=1)
def _load_reranker(spec: str) -> Any:
    from wardround.literature.encoders import make_reranker

    return make_reranker(spec)
