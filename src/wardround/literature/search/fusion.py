"""Fusion: the hits of several retrievers for one query as one list, each article once, best first, ties by PMID."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from wardround.literature.search.hit import Hit

RRF_K = 60  # how far down a list a rank still tells: a rank is worth 1 / (60 + rank)


def fuse_paper(
    found: Sequence[Sequence[Hit]], depth: int = 5, weights: Sequence[float] = (), combine: str = "mean"
) -> list[Hit]:
    """CURE's fusion: each retriever's best `depth` scores brought to [0, 1], and their mean (or max) by article.

    The paper states the depth, the normalisation and that articles are told apart by PMID. Our choice: min-max within
    the hits of one query, all equal is 1, an article that a retriever did not find has 0 there, mean and not max.
    """
    shares = _shares(weights, len(found), combine)
    return _ordered(found, depth, [normalised([hit.score for hit in hits[:depth]]) for hits in found], shares, combine)


def fuse_rrf(
    found: Sequence[Sequence[Hit]], depth: int = 100, weights: Sequence[float] = (), k: int = RRF_K
) -> list[Hit]:
    """Reciprocal rank fusion: the sum over retrievers of weight / (k + rank), ranks from 1 to `depth`."""
    worth = [[1.0 / (k + rank) for rank in range(1, len(hits[:depth]) + 1)] for hits in found]
    return _ordered(found, depth, worth, list(weights) or [1.0] * len(found), "mean")


def normalised(scores: Sequence[float]) -> list[float]:
    """Scores brought to [0, 1] by the lowest and the highest of them; 1 each where all are equal."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _shares(weights: Sequence[float], many: int, combine: str) -> list[float]:
    """Weights that leave fused scores in [0, 1]: they add up to 1 in a mean; in a max the largest is 1."""
    given = list(weights) or [1.0] * many
    whole = max(given, default=1.0) if combine == "max" else sum(given)
    return [weight / whole for weight in given]


def _ordered(
    found: Sequence[Sequence[Hit]],
    depth: int,
    worth: Sequence[Sequence[float]],
    shares: Sequence[float],
    combine: str,
) -> list[Hit]:
    """Each article once, with the sum (or max) over retrievers of what it is worth in each."""
    parts: dict[str, list[float]] = defaultdict(list)
    articles: dict[str, Hit] = {}
    for hits, values, share in zip(found, worth, shares, strict=True):
        for hit, value in zip(hits[:depth], values, strict=True):
            articles.setdefault(hit.pmid, hit)
            parts[hit.pmid].append(share * value)
    total = max if combine == "max" else fsum  # exact, so that the same parts in another order tie
    return best_first(hit._replace(score=total(parts[pmid])) for pmid, hit in articles.items())


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """By falling score; equal scores by PMID."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.pmid))
