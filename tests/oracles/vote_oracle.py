"""Confidence by votes, from every vote vector that can be drawn. Nothing here is clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import log, prod


def certainty_of(votes: Sequence[int], options: int) -> float:
    """C = 1 - H/log K of some votes."""
    parts = [many / len(votes) for many in Counter(votes).values()]
    return 1 - sum(-part * log(part) for part in parts) / log(options)


def mean_over_all_votes(shares: Sequence[float], gold: int, trials: int, need: float) -> tuple[float, float, float]:
    """Over all vectors of T votes: the chance of enough valid ones, and then E[C] and E[accuracy], times it.

    The probability that `shares` lack to 1 is that of an unparsed vote.
    """
    chances = [*shares, 1 - sum(shares)]
    certain = certainty = right = 0.0
    for votes in product(range(len(chances)), repeat=trials):
        chance = prod(chances[vote] for vote in votes)
        valid = [vote for vote in votes if vote < len(shares)]
        if len(valid) >= need:
            certain += chance
            certainty += chance * certainty_of(valid, len(shares))
            right += chance * votes.count(gold) / trials
    return certain, certainty, right


def majority_right(votes: Sequence[int | None], gold: int) -> float:
    """1 if the most frequent valid vote is right; a tie counts by its part."""
    counted = Counter(vote for vote in votes if vote is not None)
    best = [vote for vote, many in counted.items() if many == max(counted.values())]
    return 1 / len(best) if gold in best else 0.0
