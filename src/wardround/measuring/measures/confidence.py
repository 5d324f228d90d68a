"""Claims: answers with a probability-like confidence, and whether they are right.

A claim is an answer with its stated number, the majority of T votes with its share, or the most probable
option with its probability. A tie of t options that includes the right one counts 1/t.
"""

from dataclasses import dataclass

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Integers, sum_by_index

BINS = 10
UAS = "xpcr-uas/local-1"
CC, CU, IU, IC = 1.0, 0.6, 0.2, -0.2  # correct or incorrect, confident or unsure
GRADES = {"R": 1.0, "A": 1.25, "S": 1.4}
MAX_IMPORTANCE = 5.0  # a larger importance costs no more, so that uas stays within [-1, 1]


@dataclass(frozen=True)
class Claims:
    """Claims of one source: the item of each, its confidence, and its correctness (0 to 1)."""

    item: Integers
    confidence: Floats
    right: Floats


def confidence_bins(confidence: Floats) -> Integers:
    """Ten bins of equal width, closed on the right; the first includes 0 (our choice: the papers name none)."""
    return np.clip(np.ceil(np.round(confidence * BINS, 6)).astype(np.int64) - 1, 0, BINS - 1)


def claim_sums(claims: Claims, items: int, source: str) -> dict[str, Floats]:
    """Sums for ECE (by bin) and Brier, by item."""
    item, confidence, right = claims.item, exact(claims.confidence), exact(claims.right)
    squared = exact(right * (1 - confidence) ** 2 + (1 - right) * confidence**2)
    index = item * BINS + confidence_bins(claims.confidence)

    def by_bin(values: Floats) -> Floats:
        return sum_by_index(index, values, items * BINS).reshape(items, BINS)

    ones, noise = np.ones(len(item)), exact(confidence * (1 - confidence))
    values = {"in": ones, "gap": confidence - right, "square": squared, "noise": noise}
    sums = {f"{name}:{source}:{b}": column for name, v in values.items() for b, column in enumerate(by_bin(v).T)}
    totals = {"brier": squared, "claims": ones}
    return sums | {f"{name}:{source}": sum_by_index(item, v, items) for name, v in totals.items()}


def uas_score(confidence: Floats, right: Floats, importance: Floats) -> Floats:
    """Score of one claim (X-PCR names the quadrants; the numbers are our choice).

    A claim is confident from tau = (IU - IC_i) / ((CC - CU) + (IU - IC_i)) on, where both reports score the same.
    """
    wrong = IC * np.clip(importance, 1.0, MAX_IMPORTANCE)
    tau = (IU - wrong) / ((CC - CU) + (IU - wrong))
    confident = confidence >= tau - 1e-9
    return np.where(confident, right * CC + (1 - right) * wrong, right * CU + (1 - right) * IU)


def uas_sums(claims: Claims, weight: Floats, importance: Floats, source: str) -> dict[str, Floats]:
    """Weighted scores and weights. `weight` is that of each item (0: neither grade nor importance)."""
    w = exact(weight[claims.item])
    score = uas_score(claims.confidence, claims.right, importance[claims.item])
    values = {"uas": exact(w * score), "uas_weight": w, "uas_of": (w > 0).astype(float)}
    return {f"{name}:{source}": sum_by_index(claims.item, v, len(weight)) for name, v in values.items()}
