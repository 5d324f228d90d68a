"""Percentile bootstrap over clusters: weights by counting, and one matrix product over cluster sums.

Every figure of a study is taken over the same 2,000 resamples of all its clusters. Cluster sums are multiples of
2**-30 (see exact.py), and so is every partial sum of the product: it comes out the same however the linear
algebra library orders or splits it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.core.random import stream
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Whole

RESAMPLES = 2_000
LEVEL = 0.95
BLOCK = 4_000_000  # weights multiplied at once: 32 MB
KEPT = 40_000_000  # weights that are kept for the next time
Counts = NDArray[np.int16 | np.float64]


class Part(NamedTuple):
    """Sums of some clusters, to be added up in every resample."""

    cluster: Whole  # which clusters, by number
    sums: Floats  # sums x clusters


class Drawn(NamedTuple):
    """The sums of one part in every resample, among those of other parts."""

    totals: Floats  # sums x resamples
    place: Whole | None = None  # where the sums of the part are; None: it is the only part

    def of(self, sums: Whole) -> Floats:
        """Some of them, by rising number (x resamples); not copied if they stand together."""
        if self.place is not None:
            return self.totals[self.place[sums]]
        first, last = int(sums[0]), int(sums[-1])
        return self.totals[first : last + 1] if last - first == len(sums) - 1 else self.totals[sums]

    def all(self) -> Floats:
        return self.totals if self.place is None else self.totals[self.place]


def resample_weights(clusters: int, seed: int, used: int = 0) -> Iterator[Counts]:
    """How often each cluster is drawn (clusters x resamples), a block of resamples at a time.

    A block may be overwritten by the next. It is as large as can be multiplied at once if so many clusters are used.
    """
    if clusters * RESAMPLES > KEPT:
        yield from _drawn_weights(clusters, seed, BLOCK)
        return
    weights, height = _all_weights(clusters, seed), max(1, BLOCK // (used or clusters))
    yield from (weights[:, first : first + height] for first in range(0, RESAMPLES, height))


@lru_cache(maxsize=1)
def _all_weights(clusters: int, seed: int) -> Counts:
    """In 80 MB at most: as they are multiplied if that is enough, else packed."""
    (weights,) = _drawn_weights(clusters, seed, clusters * RESAMPLES)
    return weights.astype(np.float64) if weights.size <= KEPT // 4 else weights


def _drawn_weights(clusters: int, seed: int, block: int) -> Iterator[Counts]:
    random = stream(seed, "bootstrap over clusters")
    height = min(RESAMPLES, max(1, block // clusters))
    drawn, weights = np.empty((height, clusters), np.int16), np.empty((clusters, height), np.int16)
    for first in range(0, RESAMPLES, height):
        many = min(height, RESAMPLES - first)
        for resample in drawn[:many]:  # one draw per resample, so that the block's height changes nothing
            resample[:] = np.bincount(random.integers(0, clusters, size=clusters, dtype=np.int32), minlength=clusters)
        weights[:, :many] = drawn[:many].T
        yield weights[:, :many]


def resampled_sums(parts: Sequence[Part], clusters: int, seed: int) -> Iterator[tuple[int, Drawn]]:
    """The sums of each part (told by its number) in every resample."""
    alike: dict[bytes, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        alike[part.cluster.tobytes()].append(number)
    groups = list(alike.values())
    # where the weights are kept, what was multiplied is still at hand when it is used
    for batch in [[group] for group in groups] if clusters * RESAMPLES <= KEPT else [groups] if groups else []:
        yield from _multiplied(batch, parts, clusters, seed)


def _multiplied(
    groups: list[list[int]], parts: Sequence[Part], clusters: int, seed: int
) -> Iterator[tuple[int, Drawn]]:
    """Groups of parts that have the same clusters."""
    together = [_together([parts[number] for number in group]) for group in groups]
    totals = [np.empty((len(rows), RESAMPLES)) for _, rows, _ in together]
    done = 0
    for weights in resample_weights(clusters, seed, max(len(cluster) for cluster, _, _ in together)):
        now = slice(done, done + weights.shape[1])
        for (cluster, rows, _), total in zip(together, totals, strict=True):
            drawn = weights if len(cluster) == clusters else weights[cluster]
            np.matmul(rows, drawn.astype(np.float64, copy=False), out=total[:, now])
        done = now.stop
    for group, (_, _, places), total in zip(groups, together, totals, strict=True):
        yield from ((number, Drawn(total, place)) for number, place in zip(group, places, strict=True))


def _together(parts: list[Part]) -> tuple[Whole, Floats, list[Whole | None]]:
    """Parts of the same clusters as rows to multiply, and for each part which row its sums are.

    Candidates were asked the same, so that many denominators are equal: each is multiplied once.
    """
    if len(parts) == 1:
        return parts[0].cluster, parts[0].sums, [None]
    seen: dict[bytes, int] = {}
    rows: list[Floats] = []
    places: list[Whole | None] = []
    for part in parts:
        place = []
        for row in part.sums:
            number = seen.setdefault(row.tobytes(), len(rows))
            if number == len(rows):
                rows.append(row)
            place.append(number)
        places.append(np.array(place, np.int64))
    return parts[0].cluster, np.array(rows).reshape(len(rows), len(parts[0].cluster)), places


def percentile_intervals(values: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of each row; resamples without a value are left out (linear between neighbours)."""
    ordered = np.sort(values, axis=1)  # nan comes last
    low, high = _middle(ordered)
    for row in np.flatnonzero(np.isnan(ordered[:, -1])):
        known = int((~np.isnan(ordered[row])).sum())
        low[row : row + 1], high[row : row + 1] = _middle(ordered[row : row + 1, : max(1, known)])
    return low, high


def _middle(ordered: Floats) -> tuple[Floats, Floats]:
    place = (ordered.shape[1] - 1) * np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, ordered.shape[1] - 1)
    a, b = ordered[:, lower].astype(np.float64), ordered[:, upper]
    found = a + (b - a) * (place - lower)
    return found[:, 0], found[:, 1]


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = percentile_intervals(values[None])
    return float(low[0]), float(high[0])
