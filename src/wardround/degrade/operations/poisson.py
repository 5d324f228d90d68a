"""Counts of photons, from a normal field: the quantiles of Poisson's distribution at the field's own probabilities.

The same field gives the counts of every dose, so that less dose shows more of the same noise. For means from 10 on the
quantile is Giles's asymptotic expansion (ACM TOMS 42:7, 2016), which differs from the exact one in about one bin of
ten thousand, by one count; below, it is summed.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Reals = NDArray[np.float64]
FEW = 10.0  # the mean below which the probabilities are summed
MOST_OF_FEW = 50  # counts at such a mean


def poisson_counts(mean: Reals, field: NDArray[np.float32]) -> Reals:
    """The counts behind a field of standard normal numbers, for each mean."""
    normal = field.astype(np.float64)
    counts = np.floor(_expansion(np.maximum(mean, FEW), normal))
    np.maximum(counts, 0.0, out=counts)
    if (few := mean < FEW).any():
        counts[few] = _summed(mean[few], ndtr(normal[few]))
    return counts


def _expansion(mean: Reals, normal: Reals) -> Reals:
    root, square = np.sqrt(mean), normal * normal
    value: Reals = mean + root * normal + (1 / 3 + square / 6)
    value -= normal * (1 / 36 + square / 72) / root
    value += (-8 / 405 + square * (7 / 810 + square / 270)) / mean
    return value


def _summed(mean: Reals, probability: Reals) -> Reals:
    counts = np.zeros_like(mean)
    term = np.exp(-mean)
    total = term.copy()
    for count in range(1, MOST_OF_FEW):
        counts[probability > total] = count
        term = term * mean / count
        total += term
    return counts
