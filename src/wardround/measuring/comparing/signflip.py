"""Sign-flip tests of paired differences, step-down max-T over a family of them, and the interval of few clusters.

`differences` is a matrix (clusters x comparisons): under the null hypothesis each cluster's row is as likely with
the opposite sign. One joint flip of the clusters serves all comparisons. The differences
are multiples of 2**-30 (see exact.py), so equal sums are equal and no tie depends on rounding.
"""

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import hypot
from typing import NamedTuple

import numpy as np

from wardround.core.random import stream
from wardround.measuring.engine.exact import QUANTUM, Floats
from wardround.measuring.engine.wilson import ClusterMoments, Z, rate_interval_of
from wardround.measuring.measures.formulas import ratio

FLIPS = 10_000
EXACT_UNDER = 20  # non-zero clusters
INVERTED_UNDER = 14  # clusters; under it an interval is from all flips
ALPHA = 0.05
BLOCK = 4_000_000  # signs in memory at once: 32 MB
ROUNDING = 1e-12


class SignFlipTest(NamedTuple):
    """p of each comparison, alone and adjusted for the family, and whether it is exact (over all flips)."""

    p: Floats
    p_adjusted: Floats
    exact: list[bool]


def sign_flip(differences: Floats, seed: int) -> SignFlipTest:
    """Two-sided tests of every column, and Westfall and Young's step-down max-T over all of them."""
    differences = differences[(differences != 0).any(axis=1)]
    all_flips = len(differences) < EXACT_UNDER
    p, adjusted = _p_values(
        differences, _all_signs(len(differences)) if all_flips else _drawn_signs(len(differences), seed)
    )
    exact = [all_flips] * differences.shape[1]
    if not all_flips:
        for place, column in enumerate(differences.T):
            alone = column[column != 0]
            if len(alone) < EXACT_UNDER:
                p[place] = _exact_p(alone)
                exact[place] = True
    return SignFlipTest(p, np.maximum(adjusted, p), exact)


def flip_interval(differences: Floats, sizes: Floats, p: float, seed: int) -> tuple[float, float]:
    """The differences d of one comparison that the sign-flip test of (difference - d x size) does not reject at 5%.

    Flipping the signs of some clusters gives a larger sum exactly if their own mean difference is below d, so the ends
    are order statistics of the means of subsets of clusters. `p` is that of the test of 0: the interval has 0 outside
    exactly if p is at most 5%, even if its flips are other draws.
    """
    subsets = _subsets(len(differences), seed)
    part, whole, flips = subsets @ differences, subsets @ sizes, len(subsets) + 1
    means = ratio(
        np.concatenate([part, differences.sum() - part]), np.concatenate([whole, sizes.sum() - whole])
    )  # of the flipped clusters, and of the others: the test is two-sided
    means = np.sort(means[~np.isnan(means)])
    place = int(ALPHA * flips - 1)
    return agreeing(float(means[place]), float(means[-1 - place]), float(differences.sum()), p)


def agreeing(low: float, high: float, difference: float, p: float) -> tuple[float, float]:
    """An interval that has 0 outside exactly if p is at most 5%."""
    if p > ALPHA:
        return min(low, 0.0), max(high, 0.0)
    if low <= 0.0 <= high:
        return (QUANTUM, high) if difference > 0 else (low, -QUANTUM)
    return low, high


def rare_interval(differences: Floats, sizes: Floats) -> tuple[float, float]:
    """The interval of many clusters of which few differ: resamples of three gains seldom hold none.

    Gains and losses are two rare rates with Wilson's intervals, whose distances add up by squares (Newcombe). They are
    shares of the largest difference, which is 2 of signed measures.
    """
    largest = 1.0 if (np.abs(differences) <= sizes).all() else 2.0
    (gain, gain_low, gain_high), (loss, loss_low, loss_high) = (
        _rate(np.maximum(sign * differences / largest, 0.0), sizes) for sign in (1.0, -1.0)
    )
    low = gain - loss - hypot(gain - gain_low, loss_high - loss)
    high = gain - loss + hypot(gain_high - gain, loss - loss_low)
    return largest * max(low, -1.0), largest * min(high, 1.0)


def _rate(part: Floats, whole: Floats) -> tuple[float, float, float]:
    """A rate with its interval, from its sums by cluster."""
    moments = ClusterMoments.of(part, whole, lambda values: values.sum(axis=-1, keepdims=True))
    low, high = rate_interval_of(moments, moments.whole)
    return float(moments.share[0]), float(low[0]), float(high[0])


def alike_interval(value: float, clusters: int) -> tuple[float, float]:
    """The interval of a difference that is the same in all clusters.

    The share of other clusters may be up to Wilson's bound for none of so many, and theirs anything from -1 to 1.
    """
    unseen = Z * Z / (clusters + Z * Z)
    return value - unseen * (1 + value), value + unseen * (1 - value)


@lru_cache(maxsize=4)
def _subsets(clusters: int, seed: int) -> Floats:
    """The clusters whose signs are flipped (flips x clusters), 1 or 0: all flips but the observed one, or drawn."""
    return (1.0 - np.concatenate(list(signs_of(clusters, seed)))) / 2


def _p_values(differences: Floats, signs: Iterator[Floats]) -> tuple[Floats, Floats]:
    """Share of flips as far from zero as the observed statistic, which is one of them."""
    scale = np.sqrt((differences**2).sum(axis=0))
    scale[scale == 0] = 1.0  # nothing differs: the statistic stays 0 and p is 1
    return _shares(np.abs(differences.sum(axis=0)) / scale, (np.abs(block @ differences) / scale for block in signs))


def _exact_p(differences: Floats) -> float:
    """The share of all flips of one comparison; each cluster doubles the sums of those before it."""
    sums = np.array([differences[:1].sum()])
    for difference in differences[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    scale = np.sqrt((differences**2).sum()) or 1.0
    return float(np.mean(np.abs(sums) / scale >= np.abs(differences.sum()) / scale * (1 - ROUNDING)))


def adjusted_p(observed: Floats, drawn: Iterator[Floats]) -> tuple[Floats, Floats]:
    """p of absolute statistics, alone and adjusted by step-down max-T; the observed ones count as one more draw."""
    p, adjusted = _shares(observed, itertools.chain([observed[None]], drawn))
    return p, np.maximum(adjusted, p)


def _shares(observed: Floats, drawn: Iterable[Floats]) -> tuple[Floats, Floats]:
    """The share of draws that reach each statistic, alone and as the maximum over those not larger than it."""
    order = np.argsort(-observed, kind="stable")
    reached = observed * (1 - ROUNDING)  # statistics of two comparisons may be equal but for their scales' last bits
    alone, stepped, flips = np.zeros(len(observed)), np.zeros(len(observed)), 0
    for flipped in drawn:
        alone += (flipped >= reached).sum(axis=0)
        # the k-th largest statistic is compared with the maximum over those not larger than it
        maxima = np.maximum.accumulate(flipped[:, order[::-1]], axis=1)[:, ::-1]
        stepped += (maxima >= reached[order]).sum(axis=0)
        flips += len(flipped)
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate(stepped / flips)
    return alone / flips, adjusted


def signs_of(clusters: int, seed: int) -> Iterator[Floats]:
    """All signs of few clusters, or drawn ones, without the observed ones (flips x clusters), in blocks."""
    signs = _all_signs(clusters) if clusters < INVERTED_UNDER else _drawn_signs(clusters, seed)
    first = next(signs)
    yield from ((first[1:],) if len(first) > 1 else ())
    yield from signs


def _all_signs(clusters: int) -> Iterator[Floats]:
    """Every assignment of signs, up to the sign of the whole: two-sided tests do not distinguish them."""
    free = max(clusters - 1, 0)
    height = max(1, BLOCK // max(clusters, 1))
    for first in range(0, 2**free, height):
        numbers = np.arange(first, min(first + height, 2**free))
        signs = np.ones((len(numbers), clusters))
        signs[:, 1:] -= 2.0 * ((numbers[:, None] >> np.arange(free)) & 1)
        yield signs


def _drawn_signs(clusters: int, seed: int) -> Iterator[Floats]:
    """The observed signs, then 10,000 seeded flips."""
    yield np.ones((1, clusters))
    random = stream(seed, "sign flips")
    height = max(1, BLOCK // clusters)
    for first in range(0, FLIPS, height):
        count = min(height, FLIPS - first)
        bits = np.frombuffer(random.bytes(count * ((clusters + 7) // 8)), dtype=np.uint8).reshape(count, -1)
        signs = np.unpackbits(bits, axis=1, count=clusters).astype(np.float64)
        signs *= -2.0
        signs += 1.0
        yield signs
