"""Stored whole numbers become values from black 0 to white 1, and values become whole numbers again: one pass each."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.degrade.signature import Image

# Linux gives the memory of a large array back when it is freed, and clears it anew for the next: up to half the time
# of a degradation. Freeing an array of this size (it takes no memory: nothing is written) makes the allocator keep it.
KEPT_MEMORY = 31 * 2**20
np.empty(KEPT_MEMORY, np.uint8)


def to_values(stored: NDArray[Any], white: int) -> Image:
    """Black 0 and white 1, of 8 or 16 bits."""
    values: Image = _divide(np.ascontiguousarray(stored).reshape(-1), np.float32(white)).reshape(stored.shape)
    return values


def to_stored(values: Image, white: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rounded to the nearest whole number, halves to the even one, from 0 to white."""
    flat = np.ascontiguousarray(values).reshape(-1)
    round_all = _round_to_bytes if dtype == np.uint8 else _round
    stored: NDArray[Any] = round_all(flat, np.float32(white)).reshape(values.shape)
    return stored


@njit(cache=True, nogil=True)  # of 8 or 16 bits, and perhaps read-only
def _divide(stored: Any, white: np.float32) -> Any:  # pragma: no cover
    values = np.empty(len(stored), np.float32)
    for place in range(len(stored)):
        values[place] = np.float32(stored[place]) / white
    return values


@njit("uint8[::1](float32[::1], float32)", cache=True, nogil=True)
def _round_to_bytes(values: Any, white: np.float32) -> Any:  # pragma: no cover
    stored = np.empty(len(values), np.uint8)
    for place in range(len(values)):
        stored[place] = np.uint8(np.rint(min(max(values[place] * white, np.float32(0)), white)))
    return stored


@njit("uint16[::1](float32[::1], float32)", cache=True, nogil=True)
def _round(values: Any, white: np.float32) -> Any:  # pragma: no cover
    stored = np.empty(len(values), np.uint16)
    for place in range(len(values)):
        stored[place] = np.uint16(np.rint(min(max(values[place] * white, np.float32(0)), white)))
    return stored
