"""Fusion: the hits of several retrievers for one query as one list, each article once, best first, ties by PMID."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from wardround.literature.search.hit import Hit

RRF_K = 60  # a hit scores 1 / (60 + rank)


def fuse_paper(
    hit_lists: Sequence[Sequence[Hit]], depth: int = 5, weights: Sequence[float] = (), combine: str = "mean"
) -> list[Hit]:
    """CURE's fusion: each retriever's best `depth` scores scaled to [0, 1], and their mean (or max) by article.

    The paper states the depth, the normalisation and that articles are identified by PMID. Our choice: min-max within
    the hits of one query, all equal is 1, an article that a retriever did not return has 0 there, mean and not max.
    """
    shares = _shares(weights, len(hit_lists), combine)
    return _combine(
        hit_lists, depth, [normalize_scores([hit.score for hit in hits[:depth]]) for hits in hit_lists], shares, combine
    )


def fuse_rrf(
    hit_lists: Sequence[Sequence[Hit]], depth: int = 100, weights: Sequence[float] = (), k: int = RRF_K
) -> list[Hit]:
    """Reciprocal rank fusion: the sum over retrievers of weight / (k + rank), ranks from 1 to `depth`."""
    values = [[1.0 / (k + rank) for rank in range(1, len(hits[:depth]) + 1)] for hits in hit_lists]
    return _combine(hit_lists, depth, values, list(weights) or [1.0] * len(hit_lists), "mean")


def normalize_scores(scores: Sequence[float]) -> list[float]:
    """Scores scaled to [0, 1] between the lowest and the highest; all 1 if they are equal."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _shares(weights: Sequence[float], count: int, combine: str) -> list[float]:
    """Weights that keep fused scores in [0, 1]: for a mean they sum to 1, for a max the largest is 1."""
    filled = list(weights) or [1.0] * count
    total = max(filled, default=1.0) if combine == "max" else sum(filled)
    return [weight / total for weight in filled]


def _combine(
    hit_lists: Sequence[Sequence[Hit]],
    depth: int,
    values_by_list: Sequence[Sequence[float]],
    shares: Sequence[float],
    combine: str,
) -> list[Hit]:
    """Each article once, with the sum (or max) over retrievers of its weighted values."""
    parts: dict[str, list[float]] = defaultdict(list)
    articles: dict[str, Hit] = {}
    for hits, values, share in zip(hit_lists, values_by_list, shares, strict=True):
        for hit, value in zip(hits[:depth], values, strict=True):
            articles.setdefault(hit.pmid, hit)
            parts[hit.pmid].append(share * value)
    total = max if combine == "max" else fsum  # exact, so that the same values in another order tie
    return best_first(hit._replace(score=total(parts[pmid])) for pmid, hit in articles.items())


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """By descending score; equal scores by PMID."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.pmid))
