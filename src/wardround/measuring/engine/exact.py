"""Sums that come out the same in any order: every figure that is added is a multiple of 2**-30.

A float64 holds such a multiple exactly up to 2**23, and so does every partial sum. Neither the number of
threads nor the order of rows can then change a digit of a measure.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
QUANTUM = 2.0**-30


def exact(values: Floats) -> Floats:
    """The nearest multiples of 2**-30."""
    rounded: Floats = np.rint(values * (1 / QUANTUM))
    rounded *= QUANTUM
    return rounded
