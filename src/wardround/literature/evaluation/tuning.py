"""Tuning: the weights with which the retrievers of an index are fused, learnt from judged queries.

Weights are chosen from a grid by the mean nDCG@10 of reciprocal rank fusion. The figures are those of queries that did
not choose: the queries are split into folds, and each fold is ranked with the weights that the others chose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.literature.evaluation.evaluation import BASELINE, DEPTH, QueryMean, intervals
from wardround.literature.evaluation.judgements import Judgements
from wardround.literature.evaluation.relevance import Floats, discount
from wardround.literature.search.fusion import RRF_K
from wardround.literature.search.retrieval import Searchable

MEASURE = "ndcg@10"
FOLDS = 5
MIN_QUERIES = 25  # five in each fold; fewer cannot tell weights apart
STEPS = {2: 20, 3: 10, 4: 6}  # steps of a weight from 0 to 1, by the number of retrievers
FEWEST_STEPS = 4
TUNED = "tuned"
DIFFERENCE = f"{TUNED} - {BASELINE}"


@dataclass(frozen=True)
class Tuning:
    """The weights that all queries choose, and nDCG@10 on queries that did not choose."""

    weights: dict[str, float]  # by retriever; they sum to 1, and those with 0 are left out
    held_out: dict[str, QueryMean]  # of the tuned fusion, of equal weights, of BM25, and the paired difference
    queries: int

    @property
    def helps(self) -> bool:
        """Whether the tuned fusion is better than BM25 alone: the 95% interval of the difference lies above 0."""
        return len(self.weights) > 1 and self.held_out[DIFFERENCE].low > 0

    def to_dict(self) -> dict[str, Any]:
        figures = {name: figure._asdict() for name, figure in self.held_out.items()}
        return {"weights": self.weights, "helps": self.helps, "queries": self.queries, MEASURE: figures}


def tune(
    index: Searchable,
    queries: Mapping[str, str],
    judgements: Judgements,
    *,
    seed: int = 0,
    note: Callable[[str], None] = lambda text: None,
) -> Tuning:
    """Learns the weights of all retrievers of an index from the judged queries."""
    names = index.retrievers
    if len(names) < 2:
        raise WardroundError("the index is searched by bm25 alone: there is nothing to fuse; `literature embed` first")
    asked = [query for query in queries if any(grade > 0 for grade in judgements.get(query, {}).values())]
    if len(asked) < MIN_QUERIES:
        raise WardroundError(f"{len(asked)} queries have a relevant document; tuning needs {MIN_QUERIES} or more")
    note(f"{len(asked)} queries with {', '.join(names)}")
    grid = weight_grid(len(names))
    values = np.array([_ndcg_by_weights(index, queries[query], judgements[query], names, grid) for query in asked])
    folds = _folds(asked, seed)
    held_out = np.empty(len(asked))
    for fold in range(FOLDS):
        is_held_out = folds == fold
        held_out[is_held_out] = values[is_held_out, values[~is_held_out].mean(axis=0).argmax()]
    alone, equal = grid.tolist().index([1.0] + [0.0] * (len(names) - 1)), len(grid) - 1
    by_name: dict[str, Floats] = {
        TUNED: held_out,
        "equal weights": values[:, equal],
        BASELINE: values[:, alone],
        DIFFERENCE: held_out - values[:, alone],
    }
    means = intervals({name: {MEASURE: column} for name, column in by_name.items()}, seed)
    best = grid[values.mean(axis=0).argmax()]
    return Tuning(
        weights={name: float(weight) for name, weight in zip(names, best, strict=True) if weight},
        held_out={name: figures[MEASURE] for name, figures in means.items()},
        queries=len(asked),
    )


def weight_grid(count: int) -> Floats:
    """Weights that sum to 1, those with most weight on the first retriever first; equal weights last."""
    steps = STEPS.get(count, FEWEST_STEPS)
    rows = [row for row in product(range(steps, -1, -1), repeat=count) if sum(row) == steps]
    return np.array([*rows, [steps / count] * count]) / steps


def _folds(queries: Sequence[str], seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The fold of each query: equally many in each, by the hash of the query's id."""
    order = sorted(range(len(queries)), key=lambda position: blake([seed, "literature tune", queries[position]]))
    folds = np.empty(len(queries), np.int64)
    folds[order] = np.arange(len(queries)) % FOLDS
    return folds


def _ndcg_by_weights(
    index: Searchable, query: str, grades: Mapping[str, int], names: Sequence[str], grid: Floats
) -> Floats:
    """nDCG@10 of one query under every row of weights; ties by PMID, as fusion orders them."""
    ranks_by_name = [{hit.pmid: rank for rank, hit in enumerate(index.search(query, name, DEPTH), 1)} for name in names]
    pmids = sorted({pmid for ranks in ranks_by_name for pmid in ranks})
    absent = float("inf")  # a rank that scores 0
    parts = np.array([[1 / (RRF_K + ranks.get(pmid, absent)) for ranks in ranks_by_name] for pmid in pmids])
    gains = np.array([max(0, grades.get(pmid, 0)) for pmid in pmids], float)
    best = np.sort([grade for grade in grades.values() if grade > 0])[::-1][:10]
    ideal = float((best * discount(np.arange(1, len(best) + 1))).sum())
    if not pmids:
        return np.zeros(len(grid))
    scores = parts @ grid.T
    order = np.argsort(-scores, axis=0, kind="stable")[:10]
    kept_gains = np.where(
        np.take_along_axis(scores, order, axis=0) > 0, gains[order], 0.0
    )  # a hit of no used retriever
    result: Floats = (kept_gains * discount(np.arange(1, len(order) + 1))[:, None]).sum(axis=0) / ideal
    return result
