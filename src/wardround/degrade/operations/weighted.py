"""Sums of shifted rows: the one loop behind blurs and changes of size.

Every row of the result is a weighted sum of rows of the image, each read from an offset of its own. The inner loop
runs along the row with unit stride, so that it becomes vector code; each pixel is summed in the order of the weights,
so that the result does not depend on the machine's vector length.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Places = NDArray[np.int64]


def transpose(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows for columns; colour by colour, which numpy copies three times as fast."""
    out = np.empty((image.shape[1], image.shape[0], *image.shape[2:]), np.float32)
    for colour in np.ndindex(image.shape[2:]):
        out[..., *colour] = image[..., *colour].T
    return out


@njit("float32[:,::1](float32[:,::1], int64[:,::1], int64[:,::1], float32[:,::1], int64)", cache=True, nogil=True)
def sum_weighted_rows(rows: Rows, index: Places, offset: Places, weight: Rows, width: int) -> Rows:  # pragma: no cover
    """out[y, x] = sum over t of weight[y, t] * rows[index[y, t], offset[y, t] + x], for x below width."""
    height, taps = index.shape
    out = np.empty((height, width), np.float32)
    for y in range(height):
        done = out[y]
        done[:] = np.float32(0)
        t = 0
        while t + 4 <= taps:  # four rows a pass: a quarter of the loads and stores of the sum
            a, b, c, d = weight[y, t], weight[y, t + 1], weight[y, t + 2], weight[y, t + 3]
            first = rows[index[y, t], offset[y, t] : offset[y, t] + width]
            second = rows[index[y, t + 1], offset[y, t + 1] : offset[y, t + 1] + width]
            third = rows[index[y, t + 2], offset[y, t + 2] : offset[y, t + 2] + width]
            fourth = rows[index[y, t + 3], offset[y, t + 3] : offset[y, t + 3] + width]
            for x in range(width):
                done[x] = done[x] + a * first[x] + b * second[x] + c * third[x] + d * fourth[x]
            t += 4
        while t < taps:
            a = weight[y, t]
            first = rows[index[y, t], offset[y, t] : offset[y, t] + width]
            for x in range(width):
                done[x] = done[x] + a * first[x]
            t += 1
    return out
