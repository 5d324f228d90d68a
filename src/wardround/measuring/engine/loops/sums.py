"""Sums over items and over clusters, each in one pass."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.measuring.engine.exact import QUANTUM, Floats
from wardround.measuring.engine.sums import Integers

PER_QUANTUM = 1 / QUANTUM


@njit(cache=True, nogil=True)
def add_up(column: Floats, item: NDArray[np.int32], row: NDArray[np.int32], totals: Floats) -> None:  # pragma: no cover
    """The values of items, by the row that each adds to."""
    totals[:] = 0.0
    for i in range(len(item)):
        totals[row[i]] += column[item[i]]


@njit(cache=True, nogil=True)
def add_by_index(index: Integers, values: NDArray[Any], size: int) -> Floats:  # pragma: no cover
    """The sum of the values at each index; flags count as 1."""
    totals = np.zeros(size)
    for i in range(len(index)):
        totals[index[i]] += values[i]
    return totals


@njit(cache=True, nogil=True)
def count_options(item: Integers, option: NDArray[np.int16], items: int, options: int) -> Floats:  # pragma: no cover
    """How often each item has each option (items x options); a negative one is none."""
    counts = np.zeros((items, options))
    for i in range(len(item)):
        if option[i] >= 0:
            counts[item[i], option[i]] += 1.0
    return counts


@njit(cache=True, nogil=True)
def number_distinct(codes: Integers, size: int) -> tuple[Integers, Integers]:  # pragma: no cover
    """The codes below `size` that occur, sorted, and the index of each code among them."""
    number = np.zeros(size, np.int32)
    for code in codes:
        number[code] = 1
    count = 0
    for code in range(size):
        count += number[code]
    occurring = np.empty(count, np.int64)
    count = 0
    for code in range(size):
        if number[code]:
            occurring[count] = code
            number[code] = count
            count += 1
    index = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        index[i] = number[codes[i]]
    return occurring, index


@njit(cache=True, nogil=True)
def product_totals(first: Floats, second: Floats, ends: Integers) -> Floats:  # pragma: no cover
    """The sum over the entries of each cell of the exact products of two sums."""
    totals = np.empty(len(ends) - 1)
    for cell in range(len(totals)):
        total = 0.0
        for i in range(ends[cell], ends[cell + 1]):
            total += np.rint(first[i] * second[i] * PER_QUANTUM) * QUANTUM
        totals[cell] = total
    return totals


@njit(cache=True, nogil=True)
def moments(part: Floats, whole: Floats, ends: Integers, totals: Floats) -> None:  # pragma: no cover
    """Of every cell, over its clusters: the fields of ClusterMoments, in their order."""
    for cell in range(len(ends) - 1):
        x, w, xx, xw, ww = 0.0, 0.0, 0.0, 0.0, 0.0
        clusters, with_event, without_event = 0, 0, 0
        for i in range(ends[cell], ends[cell + 1]):
            a, b = part[i], whole[i]
            x += a
            w += b
            xx += np.rint(a * a * PER_QUANTUM) * QUANTUM
            xw += np.rint(a * b * PER_QUANTUM) * QUANTUM
            ww += np.rint(b * b * PER_QUANTUM) * QUANTUM
            clusters += b > 0.0
            with_event += a > 0.0
            without_event += a < b
        totals[0, cell], totals[1, cell], totals[2, cell], totals[3, cell], totals[4, cell] = x, w, xx, xw, ww
        totals[5, cell], totals[6, cell], totals[7, cell] = clusters, with_event, without_event
