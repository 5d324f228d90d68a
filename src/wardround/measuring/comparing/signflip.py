"""Sign-flip tests of paired differences, and step-down max-T over a family of them.

`differences` is a matrix (clusters x comparisons): under the null hypothesis each cluster's row is as likely with
the opposite sign. One joint flip of the clusters serves all comparisons. The differences
are multiples of 2**-30 (see exact.py), so equal sums are equal and no tie depends on rounding.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wardround.core.random import stream
from wardround.measuring.engine.exact import Floats

FLIPS = 10_000
EXACT_UNDER = 20  # non-zero clusters
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
    p, adjusted = _p_values(differences, _all_signs(len(differences)) if all_flips else _drawn_signs(differences, seed))
    exact = [all_flips] * differences.shape[1]
    if not all_flips:
        for place, column in enumerate(differences.T):
            alone = column[column != 0]
            if len(alone) < EXACT_UNDER:
                p[place] = _p_values(alone[:, None], _all_signs(len(alone)))[0][0]
                exact[place] = True
    return SignFlipTest(p, np.maximum(adjusted, p), exact)


def _p_values(differences: Floats, signs: Iterator[Floats]) -> tuple[Floats, Floats]:
    """Share of flips as far from zero as the observed statistic, which is one of them."""
    scale = np.sqrt((differences**2).sum(axis=0))
    scale[scale == 0] = 1.0  # nothing differs: the statistic stays 0 and p is 1
    observed = np.abs(differences.sum(axis=0)) / scale
    order = np.argsort(-observed, kind="stable")
    reached = observed * (1 - ROUNDING)  # statistics of two comparisons may be equal but for their scales' last bits
    alone, stepped, flips = np.zeros(len(observed)), np.zeros(len(observed)), 0
    for block in signs:
        flipped = np.abs(block @ differences) / scale
        alone += (flipped >= reached).sum(axis=0)
        # the k-th largest statistic is compared with the maximum over those not larger than it
        maxima = np.maximum.accumulate(flipped[:, order[::-1]], axis=1)[:, ::-1]
        stepped += (maxima >= reached[order]).sum(axis=0)
        flips += len(block)
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate(stepped / flips)
    return alone / flips, adjusted


def _all_signs(clusters: int) -> Iterator[Floats]:
    """Every assignment of signs, up to the sign of the whole: two-sided tests do not distinguish them."""
    free = max(clusters - 1, 0)
    height = max(1, BLOCK // max(clusters, 1))
    for first in range(0, 2**free, height):
        numbers = np.arange(first, min(first + height, 2**free))
        signs = np.ones((len(numbers), clusters))
        signs[:, 1:] -= 2.0 * ((numbers[:, None] >> np.arange(free)) & 1)
        yield signs


def _drawn_signs(differences: Floats, seed: int) -> Iterator[Floats]:
    """The observed signs, then 10,000 seeded flips."""
    clusters = len(differences)
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
