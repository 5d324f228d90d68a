"""The body in an image: where there is a patient and not the black around one.

Otsu's threshold on the square root of the smoothed luma, which keeps dim tissue. Only what is dark and reaches the
border is outside: air in the lungs, a dark lesion or a fluid-filled organ is inside. An image whose dark part is not
near black has no outside: a photograph that fills the frame, a stained slide, a constant image.
"""

from typing import Any

import numpy as np
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
    step = _step(image)
    return _coarse_mask(image, step).repeat(step, axis=1)[:, :width].repeat(step, axis=0)[:height]


def is_all_body(image: NDArray[Any]) -> bool:
    """Whether the mask is true everywhere."""
    return bool(_coarse_mask(image, _step(image)).all())


def body_brightness(image: NDArray[Any]) -> NDArray[np.float32]:
    """The luma inside the body where it is neither black nor white: of this, more can be lost.

    Means over the cells of a coarse grid, so that edges and grain count alike in images of any size.
    """
    step = _step(image)
    height, width = (side // step for side in image.shape[:2])
    cells = _cell_means(_luma(image[: height * step, : width * step]), step)
    luma = cells[_coarse_mask(image, step)[:height, :width]]
    between: NDArray[np.float32] = luma[(luma > 0) & (luma < 1)]
    return between if between.size else luma.astype(np.float32)


def _step(image: NDArray[Any]) -> int:
    """How far apart the samples lie, in pixels."""
    return max(1, int(min(image.shape[:2])) // GRID)


def _coarse_mask(image: NDArray[Any], step: int) -> Mask:
    """The body at every so manieth pixel down and across."""
    luma = _smooth(np.ascontiguousarray(_luma(image[::step, ::step])))
    dark = _dark(np.sqrt(np.maximum(luma - luma.min(), 0.0)))
    if not dark.any() or luma[dark].mean() > NEAR_BLACK * luma[~dark].mean():
        return np.ones(luma.shape, bool)
    body: Mask = ~_reaching_border(dark)
    return body if body.mean() >= LEAST_SHARE else np.ones(luma.shape, bool)


@njit("float32[:,::1](float32[:,::1])", cache=True, nogil=True)
def _smooth(luma: Any) -> Any:  # pragma: no cover
    """The mean of the 3 x 3 samples around each, mirrored at the border: running sums, down and then across."""
    height, width = luma.shape
    down, out = np.empty_like(luma), np.empty_like(luma)
    running = np.empty(width)
    for x in range(width):
        running[x] = np.float64(luma[0, x]) + luma[0, x] + luma[min(1, height - 1), x]
        down[0, x] = running[x] / 3
    for y in range(1, height):
        before, after = luma[max(y - 2, 0)], luma[min(y + 1, height - 1)]
        for x in range(width):
            running[x] += np.float64(after[x]) - before[x]
            down[y, x] = running[x] / 3
    for y in range(height):
        row, done = down[y], out[y]
        total = np.float64(row[0]) + row[0] + row[min(1, width - 1)]
        done[0] = total / 3
        for x in range(1, width):
            total += np.float64(row[min(x + 1, width - 1)]) - row[max(x - 2, 0)]
            done[x] = total / 3
    return out


def _reaching_border(dark: Mask) -> Mask:
    """What of the dark hangs together with the border, by sides and not by corners."""
    height, width = dark.shape
    left = np.zeros((height + 2, width + 2), bool)
    left[1:-1, 1:-1] = dark
    border = np.zeros_like(left)
    border[1:-1, [1, -2]] = border[[1, -2], 1:-1] = True
    _take_connected(left.reshape(-1), np.flatnonzero(left & border), width + 2)
    return dark & ~left[1:-1, 1:-1]


@njit("void(boolean[::1], int64[::1], int64)", cache=True, nogil=True)
def _take_connected(left: Any, first: Any, line: int) -> None:  # pragma: no cover
    """Takes the first places, and all that hang together with them, out of what is left; without branches."""
    waiting = np.empty(4 * len(left), np.int64)
    count = len(first)
    for number in range(count):  # to assign them at once takes two seconds more to compile
        waiting[number] = first[number]
        left[first[number]] = False
    while count:
        count -= 1
        place = waiting[count]
        for neighbour in (place - line, place + line, place - 1, place + 1):
            waiting[count] = neighbour
            count += left[neighbour]
            left[neighbour] = False


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


@njit(inline="always")
def _add_cells(values: Any, totals: Any, step: int) -> None:  # pragma: no cover
    for column in range(len(totals)):
        total = np.float32(0)
        for place in range(step):
            total += values[column * step + place]
        totals[column] += total


@njit("float32[:,::1](float32[:,::1], int64)", cache=True, nogil=True)
def _sum_cells(luma: Any, step: int) -> Any:  # pragma: no cover
    height, width = luma.shape[0] // step, luma.shape[1] // step
    sums = np.zeros((height, width), np.float32)
    for row in range(height * step):
        values, totals = luma[row], sums[row // step]
        if step == 4:  # a step that the compiler knows (of 512 and of 256 pixels) becomes vector code
            _add_cells(values, totals, 4)
        elif step == 2:
            _add_cells(values, totals, 2)
        else:
            _add_cells(values, totals, step)
    return sums


def _luma(image: NDArray[Any]) -> NDArray[np.float32]:
    channels = image.reshape(*image.shape[:2], -1)
    if channels.shape[2] < 3:
        return channels[..., 0].astype(np.float32)
    colours = np.ascontiguousarray(channels[..., :3], np.float32)
    luma: NDArray[np.float32] = _weigh_colours(colours.reshape(-1), *LUMA).reshape(image.shape[:2])
    return luma


@njit("float32[::1](float32[::1], float32, float32, float32)", cache=True, nogil=True)
def _weigh_colours(colours: Any, red: Any, green: Any, blue: Any) -> Any:  # pragma: no cover
    luma = np.empty(len(colours) // 3, np.float32)
    for place in range(len(luma)):
        luma[place] = colours[3 * place] * red + colours[3 * place + 1] * green + colours[3 * place + 2] * blue
    return luma


def _dark(values: NDArray[np.float32]) -> Mask:
    """Below Otsu's threshold, the cut with the greatest variance between its two sides; nothing if all are equal."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-6 * max(1.0, abs(high)):
        return np.zeros(values.shape, bool)
    edges = np.linspace(low, high, BINS + 1, dtype=np.float32)
    counts = _count(np.ascontiguousarray(values).reshape(-1), edges)
    centres = (edges[:-1] + edges[1:]) / 2
    below = counts.cumsum()[:-1]
    above = values.size - below
    total = (counts * centres).cumsum()
    between = below * above * (total[:-1] / np.maximum(below, 1) - (total[-1] - total[:-1]) / np.maximum(above, 1)) ** 2
    dark: Mask = values < edges[1:-1][between.argmax()]
    return dark


@njit("int64[::1](float32[::1], float32[::1])", cache=True, nogil=True)
def _count(values: Any, edges: Any) -> Any:  # pragma: no cover
    """How many values each bin has: from its lower edge to below its upper one, which only the last has."""
    bins = len(edges) - 1
    scale = np.float32(bins) / (edges[-1] - edges[0])
    counts = np.zeros(bins, np.int64)
    for value in values:
        place = min(int((value - edges[0]) * scale), bins - 1)
        if value < edges[place]:
            place -= 1
        elif place < bins - 1 and value >= edges[place + 1]:
            place += 1
        counts[place] += 1
    return counts
