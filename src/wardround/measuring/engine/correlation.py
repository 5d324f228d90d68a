"""Spearman's rank correlation over the last axis, vectorised over resamples."""

import numpy as np

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats


def spearman(a: Floats, b: Floats) -> Floats:
    """Correlation of ranks over the last axis; ties share their mean rank, nan where one side is all ties."""
    x, y = (mean_ranks(values) - (values.shape[-1] - 1) / 2 for values in (a, b))
    size = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    correlation: Floats = np.divide((x * y).sum(axis=-1), size, out=np.full(np.shape(size), np.nan), where=size > 0)
    return correlation


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 0 over the last axis; ties share the mean of theirs."""
    if uses_loops() and values.ndim == 2:
        from wardround.measuring.engine.loops import ranks as loops

        compiled: Floats = loops.mean_ranks(np.ascontiguousarray(values))
        return compiled
    order = np.argsort(values, axis=-1)
    ordered, place = np.take_along_axis(values, order, axis=-1), np.arange(values.shape[-1])
    edge = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones((*values.shape[:-1], 1), bool)
    first = np.maximum.accumulate(np.where(np.concatenate([ends, edge], axis=-1), place, 0), axis=-1)
    last = np.where(np.concatenate([edge, ends], axis=-1), place, place[-1])
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=-1)
    return ranks
