"""Retrieval measured against the documents that a case cites: relevance is yes or no."""

from __future__ import annotations

import numpy as np
import polars as pl

from wardround.literature.evaluation.relevance import figures_by_rank
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import Marked

DEPTHS = (1, 5, 10)


def retrieval_sums(marks: Marked) -> dict[str, Floats]:
    """recall@k, precision@k, nDCG@k, MRR and average precision of each search, added up by item.

    A search for which nothing is relevant has no value. One that found nothing relevant has zeros.
    """
    if not marks.has("relevant"):
        return {}
    relevant = marks.frame["relevant"].fill_null(0).to_numpy().astype(np.int64)
    search, rank = _found(marks, relevant > 0)
    figures = figures_by_rank(search, rank, relevant, DEPTHS)
    found = {name: marks.total(exact(values * (relevant > 0))) for name, values in figures.items()}
    return found | {"searches": marks.total(relevant > 0)}


def _found(marks: Marked, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every relevant document that was found: its search (a mark) and its rank, in this order, none twice."""
    if not marks.has("relevant_ranks"):
        return np.zeros(0, np.int64), np.zeros(0)
    told = marks.frame.select(rank="relevant_ranks").with_row_index("mark").filter(pl.Series(asked))
    told = told.explode("rank").drop_nulls().unique().sort("mark", "rank")
    return told["mark"].cast(pl.Int64).to_numpy(), told["rank"].cast(pl.Float64).to_numpy()
