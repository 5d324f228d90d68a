"""Exponentials and logarithms of the bins of a view, in double precision: several times as fast as numpy's.

They are made of sums and products only, in a fixed order, so that every processor gives the same bits.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Reals = NDArray[np.float64]
NEAR = 0.2  # up to this eleven terms of the series of atanh give double precision


@njit(cache=True, nogil=True)
def exp_of(values: NDArray[np.float32], factor: float) -> Reals:  # pragma: no cover
    """exp(factor * values), where that product lies between -8 and 8."""
    out = np.empty(len(values))
    for place in range(len(values)):
        x = values[place] * factor / 64  # at most 1/8: nine terms of the series give double precision
        y = 1 + x * (1 / 7 + x * (1 / 56 + x / 504))
        y = 1 + x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720) * y)))))
        y *= y  # to the 64th power
        y *= y
        y *= y
        y *= y
        y *= y
        out[place] = y * y
    return out


@njit(cache=True, nogil=True, error_model="numpy")  # a check for zero would end the vector code
def log_ratio(above: Reals, below: Reals) -> Reals:  # pragma: no cover
    """log(above / below), both positive; exact also where they are almost equal."""
    out = np.empty(len(above))
    for place in range(len(above)):  # without a branch: it becomes vector code
        z = (above[place] - below[place]) / (above[place] + below[place])
        square = z * z
        total = 1 / 15 + square * (1 / 17 + square * (1 / 19 + square / 21))
        total = 1 / 7 + square * (1 / 9 + square * (1 / 11 + square * (1 / 13 + square * total)))
        total = 1 + square * (1 / 3 + square * (1 / 5 + square * total))
        out[place] = 2 * z * total  # log(a / b) is 2 atanh((a - b) / (a + b))
    for far in np.flatnonzero(np.abs(above - below) > NEAR * (above + below)):
        out[far] = math.log(above[far] / below[far])
    return out
