"""Ranks and pairs of a few candidates, in each of many resamples."""

import numpy as np
from numba import njit

from wardround.measuring.engine.exact import Floats


@njit(cache=True, nogil=True)
def mean_ranks(values: Floats) -> Floats:  # pragma: no cover
    """Ranks from 0 in each row; ties share the mean of theirs, and nan are last, each of them alone."""
    rows, size = values.shape
    ranks = np.empty((rows, size))
    for r in range(rows):
        for i in range(size):
            own, less, equal = values[r, i], 0, 0
            for j in range(size):
                less += values[r, j] < own
                equal += values[r, j] == own
            ranks[r, i] = less + (equal - 1) / 2
        missing = 0
        for i in range(size):
            if np.isnan(values[r, i]):
                missing += 1
        if missing:
            place = size - missing
            for i in range(size):
                if np.isnan(values[r, i]):
                    ranks[r, i] = place
                    place += 1
    return ranks


@njit(cache=True, nogil=True)
def count_pairs(first: Floats, second: Floats, opposed: Floats, differing: Floats) -> None:  # pragma: no cover
    """In each row the pairs that differ in `first`, and those of them that `second` orders the other way."""
    rows, size = first.shape
    for r in range(rows):
        others, apart = 0, 0
        for i in range(1, size):
            a, b = first[r, i], second[r, i]
            for j in range(i):
                distance = first[r, j] - a
                others += distance * (second[r, j] - b) < 0
                apart += distance != 0
        opposed[r], differing[r] = others, apart
