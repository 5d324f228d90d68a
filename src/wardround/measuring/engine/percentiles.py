"""Percentile intervals of resampled values, from the tails of each row: most of its values need not be ordered."""

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats

LEVEL = 0.95
SAMPLE = 200  # values of a row, by which its tails are cut off
SAMPLE_TAIL = 14  # of them: mostly more of the row than the 2.5% that are needed
MAX_TAIL = 400  # values; a row with more in a tail has many that are equal


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = percentile_intervals(values[None])
    return float(low[0]), float(high[0])


def percentile_intervals(values: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of each row; resamples without a value are left out (linear between neighbours)."""
    size = values.shape[1]
    smallest, has_smallest = _smallest(values, _needed(size))
    largest, has_largest = _smallest(-values, _needed(size))
    low, high = _between(np.concatenate([smallest, -largest[:, ::-1]], axis=1), size)
    is_complete = has_smallest & has_largest & ~np.isnan(values.max(axis=1, initial=-np.inf))
    for row in np.flatnonzero(~is_complete):
        known = np.sort(values[row])[: max(1, size - int(np.isnan(values[row]).sum()))]  # nan comes last
        low[row : row + 1], high[row : row + 1] = _between(known[None], len(known))
    return low, high


def _needed(size: int) -> int:
    """How many of the smallest, or of the largest, values of a row its interval is made of."""
    return int((size - 1) * (1 - LEVEL) / 2) + 2


def _smallest(values: Floats, count: int) -> tuple[Floats, NDArray[np.bool_]]:
    """The `count` smallest values of each row in their order, and whether they are those of the whole row.

    They are among the values up to the SAMPLE_TAIL-th of the first ones, unless the row is small or these are unlike
    the others.
    """
    cut = np.sort(values[:, :SAMPLE], axis=1)[:, min(SAMPLE_TAIL, values.shape[1]) - 1, None]
    is_tail = values <= cut
    counts = is_tail.sum(axis=1)
    is_tail[counts > MAX_TAIL] = False
    counts[counts > MAX_TAIL] = 0
    tails = np.full((len(values), max(count, int(counts.max(initial=0)))), np.nan, values.dtype)
    tails[np.arange(tails.shape[1]) < counts[:, None]] = values[is_tail]
    tails.sort(axis=1)
    return tails[:, :count], counts >= count


def _between(ordered: Floats, size: int) -> tuple[Floats, Floats]:
    """The interval of rows of `size` values in their order, of which the middle ones may be missing."""
    place = (size - 1) * np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, size - 1)
    missing = np.array([0, size - ordered.shape[1]])
    a, b = ordered[:, lower - missing].astype(np.float64), ordered[:, upper - missing]
    ends = a + (b - a) * (place - lower)
    return ends[:, 0], ends[:, 1]
