"""Measures of a ranking from the ranks of its relevant documents: the formulas of trec_eval."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def ranking_measures(
    search: Whole,
    rank: Floats,
    relevant: Whole,
    depths: Sequence[int],
    gain: Floats | None = None,
    best: Mapping[int, Floats] | None = None,
) -> dict[str, Floats]:
    """recall@k, precision@k, nDCG@k, MRR and average precision of each search.

    `search` and `rank` list every relevant document that was returned, sorted and each once, and `relevant` the number
    of relevant documents of each search. For graded relevance, `gain` is the gain of each returned document, and `best`
    the DCG of the ideal ranking at each depth; without them every gain is 1.
    """
    count = len(relevant)
    # the position of a document among the relevant ones of its search, from 1
    position = np.arange(len(search)) - np.searchsorted(search, search) + 1
    is_first = position == 1
    figures = {
        "mrr": _sum_by_search(search[is_first], 1.0 / rank[is_first], count),
        "map": _sum_by_search(search, position / rank, count) / np.maximum(relevant, 1),
    }
    for k in depths:
        is_near = rank <= k
        hits = np.bincount(search[is_near], minlength=count)
        gains = discount(rank[is_near]) if gain is None else gain[is_near] * discount(rank[is_near])
        dcg = _sum_by_search(search[is_near], gains, count)
        ideal = np.cumsum(discount(np.arange(1, k + 1)))[np.clip(relevant, 1, k) - 1] if best is None else best[k]
        figures |= {f"recall@{k}": hits / np.maximum(relevant, 1), f"precision@{k}": hits / k, f"ndcg@{k}": dcg / ideal}
    return figures


def discount(rank: NDArray[Any]) -> Floats:
    """The weight of a rank in DCG: 1 / log2(rank + 1)."""
    weights: Floats = 1.0 / np.log2(rank + 1.0)
    return weights


def _sum_by_search(search: Whole, values: Floats, count: int) -> Floats:
    """The sum of the values of each search."""
    return np.bincount(search, weights=values, minlength=count).astype(np.float64, copy=False)
