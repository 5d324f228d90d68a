"""Blurs: Gaussian, and along a line. The image is mirrored at its borders, so that these do not darken."""

import math

import numpy as np

from wardround.degrade.operations.weighted import Places, Rows, sum_weighted_rows
from wardround.degrade.signature import Image

REACH = 3  # a Gaussian ends at this many sigmas
PER_PIXEL = 8  # points of a line in each pixel of its length


def gaussian(image: Image, sigma: float) -> Image:
    """The image, (h, w) or (h, w, c), blurred by a Gaussian of sigma pixels: along the rows, then down the columns."""
    radius = math.ceil(REACH * sigma)
    places = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (places / max(sigma, 1e-6)) ** 2)
    weights /= weights.sum()
    along = _shifted_sum(image, np.zeros_like(places), places, weights)
    return _shifted_sum(along, places, np.zeros_like(places), weights)


def convolve(image: Image, kernel: Rows) -> Image:
    """The image convolved with a short symmetric kernel, along the rows and down the columns."""
    places, still = np.arange(len(kernel)) - len(kernel) // 2, np.zeros(len(kernel), np.int64)
    return _shifted_sum(_shifted_sum(image, still, places, kernel), places, still, kernel)


def along_line(image: Image, length: float, angle: float) -> Image:
    """The image moved evenly along a line of this many pixels while it was taken; angle in radians."""
    down, right, weights = line_taps(length, angle)
    return _shifted_sum(image, down, right, weights)


def line_taps(length: float, angle: float) -> tuple[Places, Places, Rows]:
    """The pixels that a line through the middle of a pixel covers, each with its share of the line."""
    count = max(1, math.ceil(length * PER_PIXEL))
    along = ((np.arange(count) + 0.5) / count - 0.5) * length
    radius = math.ceil(length / 2) + 1
    grid = np.zeros((2 * radius + 1, 2 * radius + 1))
    y, x = along * math.sin(angle) + radius, along * math.cos(angle) + radius
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    for dy, share_y in ((0, top + 1 - y), (1, y - top)):
        for dx, share_x in ((0, left + 1 - x), (1, x - left)):
            np.add.at(grid, (top + dy, left + dx), share_y * share_x / count)
    down, right = np.nonzero(grid)
    return down - radius, right - radius, grid[down, right].astype(np.float32)


def _shifted_sum(image: Image, down: Places, right: Places, weights: Rows) -> Image:
    """Each pixel: the weighted sum of those that lie so far down and right of it."""
    height, width = image.shape[:2]
    channels = image.size // (height * width)
    reach = int(np.abs(right).max())
    wide = np.pad(image, [(0, 0), (reach, reach), *[(0, 0)] * (image.ndim - 2)], mode="symmetric") if reach else image
    done = sum_weighted_rows(
        np.ascontiguousarray(wide, np.float32).reshape(height, -1),
        _mirrored(np.arange(height)[:, None] + down, height),
        np.tile((right + reach) * channels, (height, 1)),
        np.tile(weights.astype(np.float32), (height, 1)),
        width * channels,
    )
    return done.reshape(image.shape)


def _mirrored(place: Places, size: int) -> Places:
    """Where a place outside 0..size-1 is seen in a mirror that stands on the border."""
    folded = place % (2 * size)
    return np.where(folded < size, folded, 2 * size - 1 - folded)
