"""The matrix product of the bootstrap: cluster sums times how often each resample draws each cluster.

A linear algebra library wants the counts of a slice's clusters side by side and as floats. Here they stay packed, and
only a panel of them is unpacked at a time, which fits in the processor's nearest cache with the totals it adds to.
The sums are exact (see exact.py), so that neither their order nor fused operations change a digit.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers

Counts = NDArray[np.uint8 | np.int16 | np.float32]
COLUMNS, CLUSTERS = 256, 32  # of a panel
BLOCK = 4  # rows, and clusters, that are multiplied together
USED_COLUMNS = 250  # of them: an eighth of the resamples
LINE = 64  # bytes: vectors that cross the lines of the cache take twice the time


@njit(cache=True, nogil=True)
def _aligned(rows: int, like: Floats) -> Floats:  # pragma: no cover
    """Zeros, each row of which begins at a line of the cache."""
    spare = LINE // like.itemsize
    buffer = np.zeros(rows * COLUMNS + spare, like.dtype)
    start = (-buffer.ctypes.data) % LINE // like.itemsize
    return buffer[start : start + rows * COLUMNS].reshape(rows, COLUMNS)


def multiply(rows: Floats, clusters: Integers, counts: Counts, place: Integers, totals: Floats, dtype: type) -> None:
    """totals[place] = rows @ counts[clusters], in this precision."""
    padded: Floats = np.zeros([-(-size // BLOCK) * BLOCK for size in rows.shape], dtype)
    padded[: rows.shape[0], : rows.shape[1]] = rows
    _multiply(padded, clusters, counts, place, totals)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _multiply(
    rows: Floats, clusters: Integers, counts: Counts, place: Integers, totals: Floats
) -> None:  # pragma: no cover
    """Four rows and four clusters a pass (BLOCK): half of the loads and a quarter of the stores of one by one."""
    height, width = rows.shape
    resamples = counts.shape[1]
    panel, added = _aligned(CLUSTERS, rows), _aligned(height, rows)
    for first in range(0, resamples, USED_COLUMNS):
        columns = min(USED_COLUMNS, resamples - first)
        added[:] = 0
        for start in range(0, width, CLUSTERS):
            for i in range(min(CLUSTERS, len(clusters) - start)):
                cluster = clusters[start + i]
                for j in range(columns):
                    panel[i, j] = counts[cluster, first + j]
            for r in range(0, height, 4):
                for i in range(0, min(CLUSTERS, width - start), 4):
                    k = start + i
                    a0, a1, a2, a3 = rows[r, k], rows[r, k + 1], rows[r, k + 2], rows[r, k + 3]
                    b0, b1, b2, b3 = rows[r + 1, k], rows[r + 1, k + 1], rows[r + 1, k + 2], rows[r + 1, k + 3]
                    c0, c1, c2, c3 = rows[r + 2, k], rows[r + 2, k + 1], rows[r + 2, k + 2], rows[r + 2, k + 3]
                    d0, d1, d2, d3 = rows[r + 3, k], rows[r + 3, k + 1], rows[r + 3, k + 2], rows[r + 3, k + 3]
                    for j in range(COLUMNS):
                        x0, x1, x2, x3 = panel[i, j], panel[i + 1, j], panel[i + 2, j], panel[i + 3, j]
                        added[r, j] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                        added[r + 1, j] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
                        added[r + 2, j] += c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
                        added[r + 3, j] += d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3
        for r in range(len(place)):
            for j in range(columns):
                totals[place[r], first + j] = added[r, j]


@njit(cache=True, nogil=True)
def are_small_counts(rows: Floats, limit: float) -> NDArray[np.bool_]:  # pragma: no cover
    """Whether each row has only whole numbers of at most this size."""
    flags = np.empty(len(rows), np.bool_)
    for r in range(len(rows)):
        others = 0
        for i in range(rows.shape[1]):
            value = rows[r, i]
            others += (abs(value) > limit) | (value != np.floor(value))
        flags[r] = others == 0
    return flags
