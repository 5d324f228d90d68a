"""How good a ranking is, from the ranks at which relevant documents stand in it: the formulas of trec_eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def figures_by_rank(
    search: Whole,
    rank: Floats,
    relevant: Whole,
    depths: Sequence[int],
    gain: Floats | None = None,
    best: Mapping[int, Floats] | None = None,
) -> dict[str, Floats]:
    """recall@k, precision@k, nDCG@k, MRR and average precision of each search.

    `search` and `rank` tell every relevant document that was found, in this order and none twice, and `relevant` how
    many there are for each search. Where relevance has grades, `gain` is what each found document is worth, and `best`
    the DCG of the best possible ranking at each depth; without them each is worth 1.
    """
    many = len(relevant)
    # the place of a relevant document among the relevant ones of its search, from 1
    nth = np.arange(len(search)) - np.searchsorted(search, search) + 1
    first = nth == 1
    figures = {
        "mrr": _added(search[first], 1.0 / rank[first], many),
        "map": _added(search, nth / rank, many) / np.maximum(relevant, 1),
    }
    for k in depths:
        near = rank <= k
        hits = np.bincount(search[near], minlength=many)
        worth = discount(rank[near]) if gain is None else gain[near] * discount(rank[near])
        dcg = _added(search[near], worth, many)
        ideal = np.cumsum(discount(np.arange(1, k + 1)))[np.clip(relevant, 1, k) - 1] if best is None else best[k]
        figures |= {f"recall@{k}": hits / np.maximum(relevant, 1), f"precision@{k}": hits / k, f"ndcg@{k}": dcg / ideal}
    return figures


def discount(rank: np.ndarray) -> Floats:
    """What a relevant document at this rank is worth in DCG: 1 / log2(rank + 1)."""
    worth: Floats = 1.0 / np.log2(rank + 1.0)
    return worth


def _added(search: Whole, worth: Floats, many: int) -> Floats:
    """The sum of each search."""
    return np.bincount(search, weights=worth, minlength=many).astype(np.float64, copy=False)
