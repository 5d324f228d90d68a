"""Retrieval: the articles that are found for a query by several retrievers, fused and, if asked, reranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from wardround.core.errors import WardroundError
from wardround.literature.search.filters import ANYTHING, Filters
from wardround.literature.search.fusion import best_first, fuse_paper, fuse_rrf
from wardround.literature.search.hit import Hit

FUSIONS = ("paper", "rrf")
COMBINES = ("mean", "max")


class Searched(Protocol):
    """What is searched: an Index, or whatever searches like one."""

    @property
    def retrievers(self) -> list[str]: ...

    @property
    def usual(self) -> list[str]: ...

    def search(self, query: str, retriever: str = "bm25", k: int = 10, filters: Filters = ANYTHING) -> list[Hit]: ...


@dataclass(frozen=True)
class Retrieval:
    """How articles are found. As given here it is the paper's way, with retrievers that need no set-up."""

    retrievers: tuple[str, ...] = ("bm25", "wordllama")
    depth: int = 5  # how many hits of each retriever are fused
    fusion: str = "paper"  # or "rrf"
    weights: tuple[float, ...] = ()  # one for each retriever; none: all count the same
    k: int = 10  # how many hits are kept at the end
    combine: str = "mean"  # or "max"; of the paper's fusion
    reranker: str | None = None  # reads all fused hits again before k of them are kept

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


NAMED = {"fused": Retrieval(fusion="rrf", depth=100), "fused-paper": Retrieval()}  # over all retrievers of an index


def retrieve(index: Searched, query: str, retrieval: Retrieval, filters: Filters = ANYTHING) -> list[Hit]:
    """The best k articles for a query: the same for the same index, best first, ties by PMID."""
    if missing := [name for name in retrieval.retrievers if name not in index.retrievers]:
        raise WardroundError(f"the index has no retriever {', '.join(missing)}; it has {', '.join(index.retrievers)}")
    found = [index.search(query, name, retrieval.depth, filters) for name in retrieval.retrievers]
    hits = fused(found, retrieval)
    if retrieval.reranker is not None and hits:
        hits = _reranked(retrieval.reranker, query, hits)
    return hits[: retrieval.k]


def fused(found: Sequence[Sequence[Hit]], retrieval: Retrieval) -> list[Hit]:
    """The hits of each retriever as one list."""
    if retrieval.fusion == "rrf":
        return fuse_rrf(found, retrieval.depth, retrieval.weights)
    return fuse_paper(found, retrieval.depth, retrieval.weights, retrieval.combine)


def find(index: Searched, query: str, retriever: str = "fused", k: int = 10, filters: Filters = ANYTHING) -> list[Hit]:
    """By one name: a retriever of the index, or all of them as `fused` or `fused-paper`."""
    if retriever in NAMED:
        return retrieve(index, query, replace(NAMED[retriever], retrievers=tuple(index.retrievers), k=k), filters)
    return index.search(query, retriever, k, filters)


def usual_search(index: Searched) -> str:
    """The name of what searches where none is given: `fused`, unless that would take in what is not usual."""
    return "fused" if index.retrievers == index.usual != ["bm25"] else "bm25"


def _reranked(reranker: str, query: str, hits: list[Hit]) -> list[Hit]:
    scores = _reranker(reranker).scores(query, [(hit.title, hit.abstract) for hit in hits])
    return best_first(hit._replace(score=float(score)) for hit, score in zip(hits, scores, strict=True))


@lru_cache(maxsize=1)
def _reranker(spec: str) -> Any:
    from wardround.literature.encoders import make_reranker

    return make_reranker(spec)
