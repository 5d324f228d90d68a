"""Claims: answers with a probability-like confidence, and whether they are right.

A claim is an answer with its stated number, the majority of T votes with its share, or the most probable
option with its probability. A tie of t options that holds the right one is right by 1/t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Whole, added

BINS = 10
UAS = "xpcr-uas/local-1"
CC, CU, IU, IC = 1.0, 0.6, 0.2, -0.2  # correct or incorrect, confident or unsure
GRADES = {"R": 1.0, "A": 1.25, "S": 1.4}
MOST_IMPORTANT = 5.0  # beyond it a confident error costs no more: uas stays within [-1, 1]


@dataclass(frozen=True)
class Claims:
    """Claims of one source: the item of each, its confidence, and how far it is right (0 to 1)."""

    item: Whole
    confidence: Floats
    right: Floats


def bin_of(confidence: Floats) -> Whole:
    """Ten bins of equal width, closed on the right; the first holds 0 (our choice: the papers name none)."""
    return np.clip(np.ceil(np.round(confidence * BINS, 6)).astype(np.int64) - 1, 0, BINS - 1)


def claim_sums(claims: Claims, items: int, source: str) -> dict[str, Floats]:
    """Sums for ECE (by bin) and Brier, by item."""
    item, confidence, right = claims.item, exact(claims.confidence), exact(claims.right)
    squared = exact(right * (1 - confidence) ** 2 + (1 - right) * confidence**2)
    place = item * BINS + bin_of(claims.confidence)

    def by_bin(values: Floats) -> Floats:
        return added(place, values, items * BINS).reshape(items, BINS)

    told = {"in": np.ones(len(item)), "gap": confidence - right, "square": squared}
    told["noise"] = exact(confidence * (1 - confidence))
    found = {f"{name}:{source}:{b}": column for name, v in told.items() for b, column in enumerate(by_bin(v).T)}
    return found | {f"brier:{source}": added(item, squared, items), f"claims:{source}": added(item, told["in"], items)}


def uas_score(confidence: Floats, right: Floats, importance: Floats) -> Floats:
    """Score of one claim (X-PCR names the quadrants, not the figures: these are our choice).

    Confident is at least tau = (IU - IC_i) / ((CC - CU) + (IU - IC_i)), at which both answers pay the same.
    """
    wrong = IC * np.clip(importance, 1.0, MOST_IMPORTANT)
    tau = (IU - wrong) / ((CC - CU) + (IU - wrong))
    confident = confidence >= tau - 1e-9
    return np.where(confident, right * CC + (1 - right) * wrong, right * CU + (1 - right) * IU)


def uas_sums(claims: Claims, weight: Floats, importance: Floats, source: str) -> dict[str, Floats]:
    """Weighted scores and weights. `weight` (0: the question has neither grade nor importance) is of each item."""
    w = exact(weight[claims.item])
    score = uas_score(claims.confidence, claims.right, importance[claims.item])
    told = {"uas": exact(w * score), "uas_weight": w, "uas_of": (w > 0).astype(float)}
    return {f"{name}:{source}": added(claims.item, values, len(weight)) for name, values in told.items()}
