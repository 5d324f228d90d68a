"""Sums over random halves of the clusters, so that two figures can be taken from different cases."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from wardround.core.random import stream
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Whole

SPLITS = 40


@lru_cache(maxsize=1)
def splits(clusters: int, seed: int) -> Floats:
    """Which clusters are in the first half (splits x clusters), 1 or 0."""
    random = stream(seed, "halves of clusters")
    found = np.zeros((SPLITS, clusters))
    for split in found:
        split[random.permutation(clusters)[: clusters // 2]] = 1.0
    return found


def halved(cluster: Whole, sums: Floats, clusters: int, seed: int) -> Floats:
    """Sums (sums x clusters) of these clusters in each half of each split (sums x splits x 2)."""
    first = sums @ splits(clusters, seed)[:, cluster].T
    return np.stack([first, sums.sum(axis=1, keepdims=True) - first], axis=-1)
