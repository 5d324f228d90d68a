"""Percentile bootstrap over clusters: weights by counting, and one matrix product over cluster sums.

Every figure of a study is taken over the same 2,000 resamples of all its clusters. The product is in single
precision, which costs half. So that it does not depend on how the linear algebra library orders or splits it,
cluster sums are first rounded to a step at which every partial sum is exact: counts stay as they are, other
sums move by about a millionth of what is resampled. The figures themselves are never rounded so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.exact import Floats
from wardround.measuring.seeds import stream
from wardround.measuring.sums import Whole

RESAMPLES = 2_000
LEVEL = 0.95
BLOCK = 8_000_000  # weights held at once: 32 MB
KEPT = 20_000_000  # weights that are kept for the next time: 80 MB
DIGITS = 24  # binary ones that a single holds
Singles = NDArray[np.float32]


class Part(NamedTuple):
    """Sums of some clusters, to be added up in every resample."""

    cluster: Whole  # which clusters, by number
    sums: Floats  # clusters x columns


def resample_weights(clusters: int, seed: int) -> Iterator[Singles]:
    """How often each cluster is drawn (clusters x resamples), a block of resamples at a time.

    A block may be overwritten by the next.
    """
    if clusters * RESAMPLES <= KEPT:
        yield _all_weights(clusters, seed)
    else:
        yield from _drawn_weights(clusters, seed, BLOCK)


@lru_cache(maxsize=1)
def _all_weights(clusters: int, seed: int) -> Singles:
    (weights,) = _drawn_weights(clusters, seed, clusters * RESAMPLES)
    return weights


def _drawn_weights(clusters: int, seed: int, block: int) -> Iterator[Singles]:
    random = stream(seed, "bootstrap over clusters")
    height = min(RESAMPLES, max(1, block // clusters))
    drawn, weights = np.empty((height, clusters), np.int16), np.empty((clusters, height), np.float32)
    for first in range(0, RESAMPLES, height):
        many = min(height, RESAMPLES - first)
        for resample in drawn[:many]:  # one draw per resample, so that the block's height changes nothing
            resample[:] = np.bincount(random.integers(0, clusters, size=clusters, dtype=np.int32), minlength=clusters)
        weights[:, :many] = drawn[:many].T
        yield weights[:, :many]


def resampled_sums(parts: Sequence[Part], clusters: int, seed: int) -> list[Singles]:
    """For each part its sums in every resample (columns x resamples)."""
    if not parts:
        return []
    alike: dict[bytes, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        alike[part.cluster.tobytes()].append(number)
    together = [_together([parts[number] for number in numbers], clusters) for numbers in alike.values()]
    found = [np.empty((part.sums.shape[1], RESAMPLES), np.float32) for part in parts]
    done = 0
    for weights in resample_weights(clusters, seed):
        now = slice(done, done + weights.shape[1])
        for numbers, (cluster, columns, places) in zip(alike.values(), together, strict=True):
            totals = columns @ (weights if len(cluster) == clusters else weights[cluster])
            for number, place in zip(numbers, places, strict=True):
                np.take(totals, place, axis=0, out=found[number][:, now], mode="clip")
        done = now.stop
    return found


def _together(parts: list[Part], clusters: int) -> tuple[Whole, Singles, list[Whole]]:
    """Parts of the same clusters as rows to multiply, and for each part which row its columns are.

    Candidates were asked the same, so that many denominators are equal: each is multiplied once.
    """
    seen: dict[bytes, int] = {}
    rows: list[Floats] = []
    places = []
    for part in parts:
        place = []
        for column in np.ascontiguousarray(part.sums.T):
            row = seen.setdefault(column.tobytes(), len(rows))
            if row == len(rows):
                rows.append(column)
            place.append(row)
        places.append(np.array(place, np.int64))
    sums = np.array(rows).reshape(len(rows), len(parts[0].cluster))
    return parts[0].cluster, stepped(sums, clusters), places


def stepped(sums: Floats, clusters: int) -> Singles:
    """Sums (rows x clusters) rounded so that a single holds every sum over so many drawn clusters.

    No resample draws more than all its clusters, so that no sum is larger than so often the largest.
    """
    most = np.maximum(np.abs(sums).max(axis=1, initial=0.0) * clusters, 1.0)
    step = np.exp2(np.ceil(np.log2(most)) - DIGITS)[:, None]
    rounded: Singles = (np.rint(sums / step) * step).astype(np.float32)
    return rounded


def percentile_intervals(values: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of each row; resamples without a value are left out (linear between neighbours)."""
    ordered = np.sort(values, axis=1)  # nan comes last
    last = np.maximum((~np.isnan(ordered)).sum(axis=1) - 1, 0)
    row = np.arange(len(ordered))
    ends = []
    for level in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        place = last * level
        lower = place.astype(np.int64)
        a, b = ordered[row, lower], ordered[row, np.minimum(lower + 1, last)]
        ends.append(a + (b - a) * (place - lower))
    return ends[0], ends[1]


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = percentile_intervals(values[None])
    return float(low[0]), float(high[0])
