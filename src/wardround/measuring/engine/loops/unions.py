"""Rows that are sums or differences of other rows: whether they are, and adding them up."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers


@njit(cache=True, nogil=True)
def take_off(left: Floats, rows: Floats, chosen: Integers, place: Integers) -> None:  # pragma: no cover
    """From each row of `left` the chosen row, of which the columns stand at `place`."""
    for i in range(len(chosen)):
        row = chosen[i]
        for j in range(len(place)):
            left[i, place[j]] -= rows[row, j]


@njit(cache=True, nogil=True)
def are_differences(
    rows: Floats, chosen: Integers, first: Integers, second: Integers
) -> NDArray[np.bool_]:  # pragma: no cover
    """Whether each chosen row is one row minus another."""
    flags = np.empty(len(chosen), np.bool_)
    for i in range(len(chosen)):
        row, a, b = chosen[i], first[i], second[i]
        others = 0
        for j in range(rows.shape[1]):
            others += rows[row, j] != rows[a, j] - rows[b, j]
        flags[i] = others == 0
    return flags


@njit(cache=True, nogil=True)
def add_rows(
    totals: Floats, into: Integers, rows: Floats, chosen: Integers, is_first: bool
) -> None:  # pragma: no cover
    """Adds the chosen rows to those of `totals`, or puts them there."""
    for i in range(len(into)):
        target, row = into[i], chosen[i]
        if is_first:
            for j in range(rows.shape[1]):
                totals[target, j] = rows[row, j]
        else:
            for j in range(rows.shape[1]):
                totals[target, j] += rows[row, j]


@njit(cache=True, nogil=True)
def put_differences(totals: Floats, into: Integers, first: Integers, second: Integers) -> None:  # pragma: no cover
    """Puts one row of `totals` minus another into each row."""
    for i in range(len(into)):
        target, a, b = into[i], first[i], second[i]
        for j in range(totals.shape[1]):
            totals[target, j] = totals[a, j] - totals[b, j]
