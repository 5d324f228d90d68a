"""Error classes: the number of wrong answers in each, and its share with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.measuring.engine.intervals import BOOTSTRAP, rate_interval
from wardround.measuring.engine.resampling.bootstrap import resample_weights
from wardround.measuring.engine.resampling.percentiles import percentile_interval


@dataclass(frozen=True)
class ErrorShare:
    """An error class: its count and its share of all classified errors."""

    count: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def error_shares(marks: pl.DataFrame, classes: Sequence[str], seed: int) -> Mapping[str, ErrorShare]:
    """The error classes of one candidate's wrong answers; intervals resample clusters."""
    classified = marks.filter(pl.col("error_class").is_in(list(classes)))
    clusters = {name: place for place, name in enumerate(classified["cluster"].unique().sort())}
    if not clusters:
        return {error_class: ErrorShare(0) for error_class in classes}
    sums = np.zeros((len(classes), len(clusters)))
    for cluster, error_class in classified.select("cluster", "error_class").iter_rows():
        sums[classes.index(error_class), clusters[cluster]] += 1
    total = sums.sum(axis=0)
    drawn = np.hstack([sums @ weights for weights in resample_weights(len(clusters), seed)])
    shares = drawn / drawn.sum(axis=0)
    by_class = {}
    for error_class, own, drawn_share in zip(classes, sums, shares, strict=True):
        method, low, high = rate_interval(own, total)
        if method == BOOTSTRAP:
            low, high = percentile_interval(drawn_share)
        by_class[error_class] = ErrorShare(int(own.sum()), float(own.sum() / total.sum()), low, high)
    return by_class
