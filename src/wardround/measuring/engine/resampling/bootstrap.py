"""Percentile bootstrap over clusters: weights by counting, and one matrix product over cluster sums.

Every figure of a study uses the same 2,000 resamples of all its clusters. Cluster sums are multiples of
2**-30 (see exact.py), and so is every partial sum of the product: it comes out the same however the linear
algebra library orders or splits it. Counts are whole numbers, mostly small enough to be exact in single
precision as well, which takes half the time.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.core.random import stream
from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers

RESAMPLES = 2_000
MAX_BLOCK_WEIGHTS = 4_000_000  # weights multiplied at once: 32 MB
MAX_DRAWN_WEIGHTS = 250_000  # weights drawn at once: 2 MB
MAX_CACHED_WEIGHTS = 40_000_000  # beyond it the weights are drawn again each time
MAX_SINGLE = 2.0**24  # up to it every whole number is a float32
Counts = NDArray[np.uint8 | np.int16 | np.float32]


class SumBlock(NamedTuple):
    """The sums of some clusters, which every resample adds up."""

    cluster: Integers  # the clusters, by number
    sums: Floats  # sums x clusters


class ResampledSums(NamedTuple):
    """The sums of one block in every resample, stored among those of other blocks."""

    totals: Floats  # sums x resamples
    place: Integers | None = None  # the rows of the block's sums; None: it is the only block

    def rows(self, sums: Integers) -> Floats:
        """Some sums, by rising number (x resamples); a view if they are adjacent."""
        if self.place is not None:
            return self.totals[self.place[sums]]
        first, last = int(sums[0]), int(sums[-1])
        return self.totals[first : last + 1] if last - first == len(sums) - 1 else self.totals[sums]

    def places(self, sums: Integers) -> Integers:
        """The rows of `totals` that hold some sums."""
        return sums if self.place is None else self.place[sums]

    def all_rows(self) -> Floats:
        return self.totals if self.place is None else self.totals[self.place]


def are_weights_cached(clusters: int) -> bool:
    """Whether the weights of so many clusters are drawn only once."""
    return clusters * RESAMPLES <= MAX_CACHED_WEIGHTS


def resample_weights(clusters: int, seed: int, used: int = 0) -> Iterator[Counts]:
    """How often each cluster is drawn (clusters x resamples), a block of resamples at a time.

    `used` is the number of clusters that are multiplied; it sets the height.
    """
    if not are_weights_cached(clusters):
        yield from _drawn_weights(clusters, seed, MAX_BLOCK_WEIGHTS)
        return
    weights, height = _all_weights(clusters, seed), max(1, MAX_BLOCK_WEIGHTS // (used or clusters))
    yield from (weights[:, first : first + height] for first in range(0, RESAMPLES, height))


@lru_cache(maxsize=1)
def _all_weights(clusters: int, seed: int) -> Counts:
    """At most 80 MB: as floats if they fit, else packed."""
    is_small = clusters * RESAMPLES <= MAX_CACHED_WEIGHTS // 2
    weights, start = np.empty((clusters, RESAMPLES), np.float32 if is_small else np.int16), 0
    for drawn in _drawn_weights(clusters, seed, MAX_DRAWN_WEIGHTS):
        weights[:, start : start + drawn.shape[1]] = drawn
        start += drawn.shape[1]
    return weights


@lru_cache(maxsize=1)
def _packed_weights(clusters: int, seed: int) -> Counts:
    """All weights in as few bytes as hold them."""
    weights = np.concatenate(list(_drawn_weights(clusters, seed, MAX_DRAWN_WEIGHTS)), axis=1)
    return weights.astype(np.uint8) if weights.max(initial=0) < 2**8 else weights


def _drawn_weights(clusters: int, seed: int, block: int) -> Iterator[Counts]:
    """A block of resamples after the other, all from one stream, so that the block's height changes nothing."""
    random = stream(seed, "bootstrap over clusters")
    height = min(RESAMPLES, max(1, block // clusters))
    for first in range(0, RESAMPLES, height):
        count = min(height, RESAMPLES - first)
        drawn = random.integers(0, clusters, size=(count, clusters), dtype=np.int32).astype(np.int64)
        drawn += np.arange(count)[:, None] * clusters
        counts = np.bincount(drawn.ravel(), minlength=count * clusters)
        yield np.ascontiguousarray(counts.reshape(count, clusters).T, np.int16)


def resampled_sums(blocks: Sequence[SumBlock], clusters: int, seed: int) -> Iterator[tuple[int, ResampledSums]]:
    """The number of each block, and its sums in every resample."""
    by_clusters: dict[bytes, list[int]] = defaultdict(list)
    for number, block in enumerate(blocks):
        by_clusters[block.cluster.tobytes()].append(number)
    groups = list(by_clusters.values())
    if uses_loops() and are_weights_cached(clusters):
        for group in groups:
            cluster, rows, places = _stack([blocks[number] for number in group])
            totals = np.empty((len(rows), RESAMPLES))
            resample_rows(SumBlock(cluster, rows), np.arange(len(rows)), totals, clusters, seed)
            yield from ((number, ResampledSums(totals, place)) for number, place in zip(group, places, strict=True))
        return
    # with cached weights each group is used while its product is still in the processor's cache
    for batch in [[group] for group in groups] if are_weights_cached(clusters) else [groups] if groups else []:
        yield from _multiply(batch, blocks, clusters, seed)


def _multiply(
    groups: list[list[int]], blocks: Sequence[SumBlock], clusters: int, seed: int
) -> Iterator[tuple[int, ResampledSums]]:
    """Each group holds the numbers of blocks that have the same clusters."""
    stacks = [_stack([blocks[number] for number in group]) for group in groups]
    totals = [np.empty((len(rows), RESAMPLES)) for _, rows, _ in stacks]
    counts = [_are_small_counts(rows, clusters) for _, rows, _ in stacks]
    start = 0
    for weights in resample_weights(clusters, seed, max(len(cluster) for cluster, _, _ in stacks)):
        span = slice(start, start + weights.shape[1])
        for (cluster, rows, _), are_counts, total in zip(stacks, counts, totals, strict=True):
            if not len(rows):
                continue
            drawn = weights if len(cluster) == clusters else weights[cluster]
            for chosen, dtype in ((are_counts, np.float32), (~are_counts, np.float64)):
                if chosen.any():
                    total[chosen, span] = rows[chosen].astype(dtype) @ drawn.astype(dtype, copy=False)
        start = span.stop
    for group, (_, _, places), total in zip(groups, stacks, totals, strict=True):
        yield from ((number, ResampledSums(total, place)) for number, place in zip(group, places, strict=True))


def resample_rows(block: SumBlock, chosen: Integers, totals: Floats, clusters: int, seed: int) -> None:
    """Puts some rows of a block in every resample into those of `totals`, by a loop over the weights as stored."""
    from wardround.measuring.engine.loops.products import are_small_counts, multiply

    rows, weights = block.sums[chosen], _packed_weights(clusters, seed)
    are_small = are_small_counts(rows, MAX_SINGLE / clusters)
    for of_type, dtype in ((are_small, np.float32), (~are_small, np.float64)):
        if of_type.any():
            multiply(rows[of_type], block.cluster, weights, chosen[of_type], totals, dtype)


def _are_small_counts(rows: Floats, clusters: int) -> NDArray[np.bool_]:
    """Whether all partial sums of each row are whole numbers that single precision holds exactly.

    A resample draws as many clusters as there are, so that none is above `clusters` times the row's largest value.
    """
    largest = np.abs(rows).max(axis=1, initial=0.0) * clusters
    flags: NDArray[np.bool_] = (largest <= MAX_SINGLE) & (rows == np.rint(rows)).all(axis=1)
    return flags


def _stack(blocks: list[SumBlock]) -> tuple[Integers, Floats, list[Integers | None]]:
    """Blocks of the same clusters as rows to multiply, and for each block the rows of its sums.

    Candidates answered the same questions, so many denominators are equal: each is multiplied once.
    """
    if len(blocks) == 1:
        return blocks[0].cluster, blocks[0].sums, [None]
    number_by_row: dict[bytes, int] = {}
    rows: list[Floats] = []
    places: list[Integers | None] = []
    for block in blocks:
        place = []
        for row in block.sums:
            number = number_by_row.setdefault(row.tobytes(), len(rows))
            if number == len(rows):
                rows.append(row)
            place.append(number)
        places.append(np.array(place, np.int64))
    return blocks[0].cluster, np.array(rows).reshape(len(rows), len(blocks[0].cluster)), places
