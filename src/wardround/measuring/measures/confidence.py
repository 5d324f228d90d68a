"""Claims: answers with a probability-like confidence, and whether they are right.

A claim is an answer with its stated number, the majority of T votes with its share, or the most probable
option with its probability. A tie of t options that includes the right one counts 1/t.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
    index = confidence_bins(claims.confidence) * items + item

    def by_bin(values: Floats) -> Floats:
        return sum_by_index(index, values, items * BINS).reshape(BINS, items)

    ones, noise = np.ones(len(item)), exact(confidence * (1 - confidence))
    values = {"in": ones, "gap": confidence - right, "square": squared, "noise": noise}
    sums = {f"{name}:{source}:{b}": column for name, v in values.items() for b, column in enumerate(by_bin(v))}
    totals = {"brier": squared, "claims": ones}
    return sums | {f"{name}:{source}": sum_by_index(item, v, items) for name, v in totals.items()}


def mean_importance(questions: pl.DataFrame) -> float | None:
    """The mean importance of the questions that have one; None if none has."""
    mean = questions["importance"].mean()
    return float(mean) if isinstance(mean, float) and mean > 0 else None


def uas_weights(questions: pl.DataFrame) -> tuple[Floats, Floats]:
    """The weight of each question (grade times importance; 0 if it has neither), and its importance with mean 1."""
    if all(questions[name].null_count() == len(questions) for name in ("grade", "importance")):
        return np.zeros(len(questions)), np.ones(len(questions))
    grade = questions["grade"].replace_strict(GRADES, default=None, return_dtype=pl.Float64)
    known = (questions["importance"].is_not_null() | grade.is_not_null()).to_numpy()
    importance = (questions["importance"] / (mean_importance(questions) or 1.0)).fill_null(1.0).to_numpy()
    return np.where(known, importance * grade.fill_null(1.0).to_numpy(), 0.0), importance


def is_confident(confidence: Floats, importance: Floats) -> NDArray[np.bool_]:
    """Whether a claim counts as confident, in UAS and in the four quadrants (CC, CU, IU, IC).

    From tau = (IU - IC_i) / ((CC - CU) + (IU - IC_i)) on, where both reports score the same: 0.5 at the mean importance
    or below it, more above it. X-PCR states no threshold.
    """
    wrong = _confident_error(importance)
    certain: NDArray[np.bool_] = confidence >= (IU - wrong) / ((CC - CU) + (IU - wrong)) - 1e-9
    return certain


def _confident_error(importance: Floats) -> Floats:
    penalty: Floats = IC * np.clip(importance, 1.0, MAX_IMPORTANCE)
    return penalty


def uas_score(confidence: Floats, right: Floats, importance: Floats) -> Floats:
    """Score of one claim (X-PCR names the quadrants; the numbers are our choice)."""
    confident, wrong = is_confident(confidence, importance), _confident_error(importance)
    return np.where(confident, right * CC + (1 - right) * wrong, right * CU + (1 - right) * IU)


def uas_sums(claims: Claims, weight: Floats, importance: Floats, source: str) -> dict[str, Floats]:
    """Weighted scores and weights. `weight` is that of each item (0: neither grade nor importance)."""
    w = exact(weight[claims.item])
    score = uas_score(claims.confidence, claims.right, importance[claims.item])
    values = {"uas": exact(w * score), "uas_weight": w, "uas_of": (w > 0).astype(float)}
    return {f"{name}:{source}": sum_by_index(claims.item, v, len(weight)) for name, v in values.items()}
