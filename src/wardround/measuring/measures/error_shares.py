"""Kinds of error: how many wrong answers have each, and which share of those that were named, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.measuring.engine.bootstrap import resample_weights
from wardround.measuring.engine.intervals import rate_interval


@dataclass(frozen=True)
class Share:
    """A kind of error: how often it was named, and its share."""

    count: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def error_shares(marks: pl.DataFrame, classes: Sequence[str], seed: int) -> Mapping[str, Share]:
    """The kinds of error of one candidate's wrong answers; intervals resample clusters."""
    named = marks.filter(pl.col("error_class").is_in(list(classes)))
    clusters = {name: place for place, name in enumerate(named["cluster"].unique().sort())}
    if not clusters:
        return {kind: Share(0) for kind in classes}
    sums = np.zeros((len(classes), len(clusters)))
    for cluster, kind in named.select("cluster", "error_class").iter_rows():
        sums[classes.index(kind), clusters[cluster]] += 1
    every = sums.sum(axis=0)
    drawn = np.hstack([sums @ weights for weights in resample_weights(len(clusters), seed)])
    shares = drawn / drawn.sum(axis=0)
    return {
        kind: Share(int(own.sum()), float(own.sum() / every.sum()), *rate_interval(own, every, share))
        for kind, own, share in zip(classes, sums, shares, strict=True)
    }
