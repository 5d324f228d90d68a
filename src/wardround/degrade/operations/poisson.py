"""Counts of photons, from a normal field: the quantiles of Poisson's distribution at the field's own probabilities.

The same field gives the counts of every dose, so that less dose shows more of the same noise. For means from 10 on the
quantile is Giles's asymptotic expansion (ACM TOMS 42:7, 2016), which differs from the exact one in about one bin of
ten thousand, by one count; below, it is summed.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.degrade.operations.logarithms import Reals

FEW = 10.0  # the mean below which the probabilities are summed
MOST_OF_FEW = 50  # counts at such a mean


@njit(cache=True, nogil=True)
def poisson_counts(means: Reals, field: NDArray[np.float32]) -> Reals:  # pragma: no cover
    """The counts behind a row of standard normal numbers, for each mean."""
    counts = np.empty(len(means))
    for place in range(len(means)):  # without a branch: it becomes vector code
        mean, normal = max(means[place], FEW), np.float64(field[place])
        root, square = math.sqrt(mean), normal * normal
        value = mean + root * normal + (1 / 3 + square / 6)
        value -= normal * (1 / 36 + square / 72) / root
        value += (-8 / 405 + square * (7 / 810 + square / 270)) / mean
        counts[place] = max(math.floor(value), 0.0)
    for place in range(len(means)):
        if means[place] < FEW:
            counts[place] = _summed(means[place], 0.5 * math.erfc(-field[place] / math.sqrt(2.0)))
    return counts


@njit(cache=True, nogil=True)
def _summed(mean: float, probability: float) -> float:  # pragma: no cover
    term = math.exp(-mean)
    total = term
    for count in range(1, MOST_OF_FEW):
        if probability <= total:
            return count - 1.0
        term = term * mean / count
        total += term
    return MOST_OF_FEW - 1.0
