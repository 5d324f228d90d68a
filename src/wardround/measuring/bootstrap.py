"""Percentile bootstrap over clusters: weights by counting, and one matrix product over cluster sums.

Every figure of a study is taken over the same 2,000 resamples of all its clusters. The sums are exact (see
exact.py), so the product does not depend on how the linear algebra library orders or splits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from wardround.measuring.exact import Floats
from wardround.measuring.seeds import stream
from wardround.measuring.sums import Whole

RESAMPLES = 2_000
LEVEL = 0.95
BLOCK = 4_000_000  # weights held at once: 32 MB


class Part(NamedTuple):
    """Sums of some clusters, to be added up in every resample."""

    cluster: Whole  # which clusters, by number
    sums: Floats  # clusters x columns


def resample_weights(clusters: int, seed: int) -> Iterator[Floats]:
    """How often each cluster is drawn (clusters x resamples), a block of resamples at a time."""
    random = stream(seed, "bootstrap over clusters")
    height = max(1, BLOCK // max(clusters, 1))
    for first in range(0, RESAMPLES, height):
        block = np.empty((min(height, RESAMPLES - first), clusters))
        for resample in block:  # one draw per resample, so that the block's height changes nothing
            resample[:] = np.bincount(random.integers(0, clusters, size=clusters, dtype=np.int32), minlength=clusters)
        yield np.ascontiguousarray(block.T)


def resampled_sums(parts: Sequence[Part], clusters: int, seed: int) -> list[Floats]:
    """For each part its sums in every resample (resamples x columns)."""
    if not parts:
        return []
    found = [np.empty((RESAMPLES, part.sums.shape[1])) for part in parts]
    done = 0
    for weights in resample_weights(clusters, seed):
        many = weights.shape[1]
        for part, totals in zip(parts, found, strict=True):
            drawn = weights if len(part.cluster) == clusters else weights[part.cluster]
            np.matmul(drawn.T, part.sums, out=totals[done : done + many])
        done += many
    return found


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
