"""Percentile bootstrap over clusters: weights by counting, and one matrix product over cluster sums.

Every figure of a study is taken over the same 2,000 resamples of all its clusters. The sums are exact (see
exact.py), so the product does not depend on how the linear algebra library orders or splits it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from wardround.measuring.exact import Floats
from wardround.measuring.seeds import stream
from wardround.measuring.sums import Whole

RESAMPLES = 2_000
LEVEL = 0.95
BLOCK = 4_000_000  # weights held at once: 32 MB
WIDE = 32  # columns


class Part(NamedTuple):
    """Sums of some clusters, to be added up in every resample."""

    cluster: Whole  # which clusters, by number
    sums: Floats  # clusters x columns


def resample_weights(clusters: int, seed: int) -> Iterator[Floats]:
    """How often each cluster is drawn (clusters x resamples), a block of resamples at a time.

    A block is overwritten by the next.
    """
    random = stream(seed, "bootstrap over clusters")
    height = min(RESAMPLES, max(1, BLOCK // clusters))
    drawn, weights = np.empty((height, clusters)), np.empty((clusters, height))
    for first in range(0, RESAMPLES, height):
        many = min(height, RESAMPLES - first)
        for resample in drawn[:many]:  # one draw per resample, so that the block's height changes nothing
            resample[:] = np.bincount(random.integers(0, clusters, size=clusters, dtype=np.int32), minlength=clusters)
        weights[:, :many] = drawn[:many].T
        yield weights[:, :many]


def resampled_sums(parts: Sequence[Part], clusters: int, seed: int) -> list[Floats]:
    """For each part its sums in every resample (resamples x columns)."""
    if not parts:
        return []
    found = [np.empty((RESAMPLES, part.sums.shape[1])) for part in parts]
    alike: dict[bytes, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        alike[part.cluster.tobytes()].append(number)
    dense: list[tuple[Part, list[int]]] = []
    sparse: list[tuple[Part, list[int]]] = []
    for numbers in alike.values():
        merged = _merged([parts[number] for number in numbers])
        (dense if _is_dense(merged, clusters) else sparse).append((merged, numbers))
    together = _stacked([part for part, _ in sparse], clusters)
    done = 0
    for weights in resample_weights(clusters, seed):
        now = slice(done, done + weights.shape[1])
        for part, numbers in dense:
            drawn = weights if len(part.cluster) == clusters else weights[part.cluster]
            _split(drawn.T @ part.sums, [found[number][now] for number in numbers])
        _split((together @ weights).T, [found[number][now] for _, numbers in sparse for number in numbers])
        done = now.stop
    return found


def _merged(parts: list[Part]) -> Part:
    """Parts of the same clusters side by side."""
    return parts[0] if len(parts) == 1 else Part(parts[0].cluster, np.concatenate([part.sums for part in parts], 1))


def _split(totals: Floats, into: list[Floats]) -> None:
    first = 0
    for columns in into:
        columns[:] = totals[:, first : first + columns.shape[1]]
        first += columns.shape[1]


def _is_dense(part: Part, clusters: int) -> bool:
    """Whether a product over all its clusters pays; few columns of some clusters are cheaper added one by one."""
    return len(part.cluster) == clusters or part.sums.shape[1] >= WIDE


def _stacked(parts: Sequence[Part], clusters: int) -> csc_array:
    """The parts as one sparse matrix (columns x clusters), so that weights are read once for all of them."""
    values, columns, drawn, first = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for part in parts:
        row, column = np.nonzero(part.sums)
        values.append(part.sums[row, column])
        columns.append(column + first)
        drawn.append(part.cluster[row])
        first += part.sums.shape[1]
    place = (np.concatenate(columns), np.concatenate(drawn))
    return csc_array((np.concatenate(values), place), shape=(first, clusters))


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
