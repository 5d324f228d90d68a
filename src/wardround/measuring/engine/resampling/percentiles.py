"""Percentile intervals of resampled values, from the tails of each row: most of its values need not be ordered."""

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats

LEVEL = 0.95
ENDS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
SAMPLE = 200  # values of a row, by which its tails are cut off
SAMPLE_TAIL = 15  # of them: mostly more of the row than the 2.5% that are needed
MAX_TAIL = 400  # values; a row with more in a tail has many that are equal
ROWS = 64  # at once: they stay in the processor's cache


def percentile_interval(values: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled values; resamples without a value are left out."""
    low, high = percentile_intervals(values[None])
    return float(low[0]), float(high[0])


def percentile_intervals(values: Floats) -> tuple[Floats, Floats]:
    """The middle 95% of each row; resamples without a value are left out (linear between neighbours)."""
    if uses_loops():
        from wardround.measuring.engine.loops.intervals import row_ends

        return row_ends(values, ENDS)
    low, high = np.empty((2, len(values)))
    for first in range(0, len(values), ROWS):
        some = slice(first, first + ROWS)
        low[some], high[some] = _intervals(values[some])
    return low, high


def _intervals(values: Floats) -> tuple[Floats, Floats]:
    """Those of a few rows. Rows of which the tails do not hold enough values are sorted."""
    size = values.shape[1]
    count = int((size - 1) * (1 - LEVEL) / 2) + 2  # how many of the smallest, and of the largest, are needed
    sample = np.sort(values[:, :SAMPLE], axis=1)
    cut = min(SAMPLE_TAIL, sample.shape[1])
    smallest, has_smallest = _tails(values, values <= sample[:, cut - 1, None], count, np.inf)
    largest, has_largest = _tails(values, values >= sample[:, -cut, None], count, -np.inf)
    low, high = _between(np.concatenate([smallest[:, :count], largest[:, -count:]], axis=1), size)
    is_complete = has_smallest & has_largest & ~np.isnan(values.max(axis=1))
    for row in np.flatnonzero(~is_complete):
        known = np.sort(values[row])[: max(1, size - int(np.isnan(values[row]).sum()))]  # nan comes last
        low[row : row + 1], high[row : row + 1] = _between(known[None], len(known))
    return low, high


def _tails(values: Floats, is_tail: NDArray[np.bool_], count: int, filler: float) -> tuple[Floats, NDArray[np.bool_]]:
    """The chosen values of each row in their order, with a filler up to the same number, and whether they are enough.

    A row of which too few or too many are chosen has zeros.
    """
    place = np.flatnonzero(is_tail)
    starts = np.searchsorted(place, np.arange(len(values) + 1) * values.shape[1])
    counts = np.diff(starts)
    is_enough = (counts >= count) & (counts <= MAX_TAIL)
    width = max(count, int(counts.max()))
    tails = np.full((len(values), width), filler, values.dtype)
    offsets = np.repeat(np.arange(len(values)) * width - starts[:-1], counts)
    tails.ravel()[np.arange(len(place)) + offsets] = values.ravel()[place]
    tails[~is_enough] = 0.0
    tails.sort(axis=1)
    return tails, is_enough


def _between(ordered: Floats, size: int) -> tuple[Floats, Floats]:
    """The interval of rows of `size` values in their order, of which the middle ones may be missing."""
    place = (size - 1) * np.array(ENDS)
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, size - 1)
    missing = np.array([0, size - ordered.shape[1]])
    a, b = ordered[:, lower - missing].astype(np.float64), ordered[:, upper - missing]
    ends = a + (b - a) * (place - lower)
    return ends[:, 0], ends[:, 1]
