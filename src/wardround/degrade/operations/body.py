"""The body in an image: where there is a patient and not the black around one.

Otsu's threshold on the square root of the smoothed luma, which keeps dim tissue. Only what is dark and reaches the
border is outside: air in the lungs, a dark lesion or a fluid-filled organ is inside. An image whose dark part is not
near black has no outside: a photograph that fills the frame, a stained slide, a constant image.
"""

from typing import Any

import numpy as np
import scipy
from numba import njit
from numpy.typing import NDArray

from wardround.degrade.rendering import LUMA

Mask = NDArray[np.bool_]

GRID = 128  # samples along the shorter side, at least: enough for an outline
NEAR_BLACK = 0.25  # of the mean of the bright part: above it, the dark part is no background
LEAST_SHARE = 0.01  # of the pixels: a smaller body is a label or a speck
BINS = 256
PAIRED = 8  # numbers in a row from which on numpy sums them by pairs


def body_mask(image: NDArray[Any]) -> Mask:
    """True inside the body, of shape (h, w); the image may be grey or colour, of whole numbers or not."""
    height, width = image.shape[:2]
    step = max(1, min(height, width) // GRID)
    luma = scipy.ndimage.uniform_filter(_luma(image[::step, ::step]), 3)
    dark = _dark(np.sqrt(np.maximum(luma - luma.min(), 0.0)))
    if not dark.any() or luma[dark].mean() > NEAR_BLACK * luma[~dark].mean():
        return np.ones((height, width), bool)
    parts, _ = scipy.ndimage.label(dark)
    border = np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]])
    body = ~(dark & np.isin(parts, border))
    if body.mean() < LEAST_SHARE:
        return np.ones((height, width), bool)
    return body.repeat(step, axis=0)[:height].repeat(step, axis=1)[:, :width]


def body_brightness(image: NDArray[Any]) -> NDArray[np.float32]:
    """The luma inside the body where it is neither black nor white: of this, more can be lost.

    Means over the cells of a coarse grid, so that edges and grain count alike in images of any size.
    """
    step = max(1, min(image.shape[:2]) // GRID)
    height, width = (side // step for side in image.shape[:2])
    cells = _cell_means(_luma(image[: height * step, : width * step]), step)
    luma = cells[body_mask(image)[: height * step : step, : width * step : step]]
    between: NDArray[np.float32] = luma[(luma > 0) & (luma < 1)]
    return between if between.size else luma.astype(np.float32)


def _cell_means(luma: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """The mean of each square of so many pixels a side: the sums of its rows, one after the other."""
    height, width = (side // step for side in luma.shape)
    cells = luma.reshape(height, step, width, step)
    means: NDArray[np.float32]
    if step >= PAIRED:
        means = cells.mean(axis=(1, 3))
    else:
        means = _sum_cells(np.ascontiguousarray(luma), step) / np.float32(step * step)
    return means


@njit("float32[:,::1](float32[:,::1], int64)", cache=True, nogil=True)
def _sum_cells(luma: Any, step: int) -> Any:  # pragma: no cover
    height, width = luma.shape[0] // step, luma.shape[1] // step
    sums = np.zeros((height, width), np.float32)
    for row in range(height * step):
        values, totals = luma[row], sums[row // step]
        for column in range(width):
            total = np.float32(0)
            for place in range(column * step, (column + 1) * step):
                total += values[place]
            totals[column] += total
    return sums


def _luma(image: NDArray[Any]) -> NDArray[np.float32]:
    channels = image.reshape(*image.shape[:2], -1)
    if channels.shape[2] < 3:
        return channels[..., 0].astype(np.float32)
    luma: NDArray[np.float32] = channels[..., 0] * LUMA[0]
    for colour in (1, 2):
        luma += channels[..., colour] * LUMA[colour]
    return luma


def _dark(values: NDArray[np.float32]) -> Mask:
    """Below Otsu's threshold, the cut with the greatest variance between its two sides; nothing if all are equal."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-6 * max(1.0, abs(high)):
        return np.zeros(values.shape, bool)
    counts, edges = np.histogram(values, BINS, (low, high))
    centres = (edges[:-1] + edges[1:]) / 2
    below = counts.cumsum()[:-1]
    above = values.size - below
    total = (counts * centres).cumsum()
    between = below * above * (total[:-1] / np.maximum(below, 1) - (total[-1] - total[:-1]) / np.maximum(above, 1)) ** 2
    dark: Mask = values < edges[1:-1][between.argmax()]
    return dark
