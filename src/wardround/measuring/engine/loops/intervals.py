"""Ends of percentile intervals, of rows of values or of resampled ratios that need not be kept."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers

SAMPLE = 256  # values of a row, whose mean and spread say where its tails may begin
HALVINGS = 30  # of the range of a tail, to find what separates two neighbours
REACH = 1.6  # standard deviations: mostly a little more of a row lies beyond them than the 2.5% that are needed


def row_ends(values: NDArray[np.float64 | np.float32], shares: tuple[float, float]) -> tuple[Floats, Floats]:
    """The values at two shares of the order of each row, linear between neighbours; nan is left out."""
    low, high = np.empty((2, len(values)))
    _row_ends(np.ascontiguousarray(values), *shares, low, high)
    return low, high


def ratio_ends(totals: Floats, part: Integers, whole: Integers, shares: tuple[float, float]) -> tuple[Floats, Floats]:
    """Those of the ratios of one row of totals to another, nan where the other is 0."""
    low, high = np.empty((2, len(part)))
    _ratio_ends(totals, part, whole, *shares, low, high)
    return low, high


@njit(cache=True, nogil=True)
def _row_ends(
    values: Floats, low_share: float, high_share: float, low: Floats, high: Floats
) -> None:  # pragma: no cover
    rows, size = values.shape
    row, smallest, largest = np.empty(size), np.empty(size + 1), np.empty(size + 1)
    for r in range(rows):
        for j in range(size):
            row[j] = values[r, j]
        low[r], high[r] = _ends(row, low_share, high_share, smallest, largest)


@njit(cache=True, nogil=True, error_model="numpy")  # a check for zero would end the vector code
def _ratio_ends(
    totals: Floats, part: Integers, whole: Integers, low_share: float, high_share: float, low: Floats, high: Floats
) -> None:  # pragma: no cover
    size = totals.shape[1]
    row, smallest, largest = np.empty(size), np.empty(size + 1), np.empty(size + 1)
    for r in range(len(part)):
        above, below = part[r], whole[r]
        for j in range(size):
            quotient = totals[above, j] / totals[below, j]
            row[j] = quotient if totals[below, j] > 0.0 else np.nan
        low[r], high[r] = _ends(row, low_share, high_share, smallest, largest)


@njit(cache=True, nogil=True)
def _ends(
    row: Floats, low_share: float, high_share: float, smallest: Floats, largest: Floats
) -> tuple[float, float]:  # pragma: no cover
    """By the tails, if they are about where those of a normal distribution are; else by all values."""
    size = len(row)
    low_place, high_place = (size - 1) * low_share, (size - 1) * high_share
    mean, spread = _mean_and_spread(row)
    if spread > 0.0:
        below, above = mean - REACH * spread, mean + REACH * spread
        outside = 0
        for value in row:
            largest[outside] = value
            outside += (not below < value) | (not value < above)  # nan is outside
        low_count, high_count, missing = 0, 0, 0
        for i in range(outside):
            value = largest[i]
            missing += value != value
            smallest[low_count] = value
            low_count += value <= below
            largest[high_count] = value
            high_count += value >= above
        middle = size - high_count
        if not missing and low_count >= int(low_place) + 2 and middle <= int(high_place):
            low = _between(smallest, low_count, low_place, 0)
            return low, _between(largest, high_count, high_place, middle)
    known = 0
    for value in row:
        smallest[known] = value
        known += value == value
    if not known:
        return np.nan, np.nan
    low = _between(smallest, known, (known - 1) * low_share, 0)
    return low, _between(smallest, known, (known - 1) * high_share, 0)


@njit(cache=True, nogil=True)
def _mean_and_spread(values: Floats) -> tuple[float, float]:  # pragma: no cover
    """Of the first values: they only say where the tails may begin."""
    size = min(SAMPLE, len(values))
    total, squares = 0.0, 0.0
    for i in range(size):
        distance = values[i] - values[0]
        total += distance
        squares += distance * distance
    mean = total / size
    return values[0] + mean, np.sqrt(max(0.0, squares / size - mean * mean))


@njit(cache=True, nogil=True)
def _between(values: Floats, size: int, place: float, before: int) -> float:  # pragma: no cover
    """The value at a place in the order of a row, linear between neighbours.

    `values` are the last of the row, without the `before` smallest; if many are equal they are put into another order.
    """
    lower = int(place)
    at, share = lower - before, place - lower
    low, high = values[0], values[0]
    for i in range(size):
        low, high = min(low, values[i]), max(high, values[i])
    for _ in range(HALVINGS):  # counting is vector code, ordering is not
        middle = (low + high) / 2
        count = 0
        for i in range(size):
            count += values[i] <= middle
        if count == at + 1 and count < size:
            for i in range(size):
                value = values[i]
                low = max(low, value if value <= middle else low)
                high = min(high, value if value > middle else high)
            between: float = low + (high - low) * share
            return between
        if count <= at:
            low = middle
        else:
            high = middle
    _select(values, size, at)
    own: float = values[at]
    after = own
    if at + 1 < size:
        after = values[at + 1]
        for i in range(at + 2, size):
            after = min(after, values[i])
    return own + (after - own) * share


@njit(cache=True, nogil=True)
def _select(values: Floats, size: int, place: int) -> None:  # pragma: no cover
    """Puts the value that belongs at `place` there, smaller ones before it and larger ones after it."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return
