"""Rotation: the patient or the film lies askew.

The image is turned about its centre on the same canvas, with black where there was nothing. A slide has glass there;
where skin or tissue fills the frame, it goes on. The angle is drawn between `least` and `most` degrees, to either side.
"""

import math

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.frame import background, pad_beyond
from wardround.degrade.operations.resize import catmull_rom
from wardround.degrade.operations.weighted import Rows
from wardround.degrade.signature import Image, SeverityParameters

MARGIN = 3  # around what is read: what a cubic at its border reads
STEPS = 1024  # a place is known to this part of a pixel, so that the weights of the cubic come from a table
WEIGHTS = catmull_rom((np.arange(STEPS) + 0.5) / STEPS).astype(np.float32)


def object_rotation(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    sign, part = rng.choice([-1.0, 1.0]), rng.random()
    return rotate(image, sign * (severity["least"] + part * (severity["most"] - severity["least"])))


def rotate(image: Image, degrees: float) -> Image:
    """The image, (h, w) or (h, w, c), turned counterclockwise: a cubic through the 16 pixels around each place."""
    if degrees % 90 == 0 and (degrees % 180 == 0 or image.shape[0] == image.shape[1]):
        return np.ascontiguousarray(np.rot90(image, round(degrees / 90)))  # loses nothing
    turn = math.radians(degrees)
    down, across = (0, 0) if background(image) is not None else _corners(image, turn)
    padded = pad_beyond(image, down + MARGIN, across + MARGIN)
    rows, outside = padded.reshape(len(padded), -1), padded[0, 0].reshape(-1)
    turned = _rotate_rows(rows, WEIGHTS, outside, math.cos(turn), math.sin(turn))
    whole = turned.reshape(len(turned), -1, *image.shape[2:])
    return whole[down : len(whole) - down, across : whole.shape[1] - across]


def _corners(image: Image, turn: float) -> tuple[int, int]:
    """How far the corners of the turned frame reach beyond the image, down and across."""
    height, width = image.shape[:2]
    cosine, sine = abs(math.cos(turn)), abs(math.sin(turn))
    reach_down, reach_across = height * cosine + width * sine, height * sine + width * cosine
    return max(0, math.ceil((reach_down - height) / 2)), max(0, math.ceil((reach_across - width) / 2))


@njit("float32[:,::1](float32[:,::1], float32[:,::1], float32[::1], float64, float64)", cache=True, nogil=True)
def _rotate_rows(
    padded: Rows, weights: Rows, outside: NDArray[np.float32], cosine: float, sine: float
) -> Rows:  # pragma: no cover
    """The turned image; `outside` is the colour beyond its frame.

    The places of a whole row are found first: that loop then becomes vector code, which halves the time.
    """
    channels = len(outside)
    height, width = padded.shape[0] - 2 * MARGIN, padded.shape[1] // channels - 2 * MARGIN
    out = np.empty((height, width * channels), np.float32)
    flat, table = padded.reshape(-1), weights.reshape(-1)
    line, step = np.uint64(padded.shape[1]), np.uint64(channels)  # unsigned: an index that may be below 0 is slower
    at, across, down = np.empty(width, np.int64), np.empty(width, np.int32), np.empty(width, np.int32)
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    for y in range(height):
        first_x = middle_x - cosine * middle_x - sine * (y - middle_y)
        first_y = middle_y - sine * middle_x + cosine * (y - middle_y)
        for x in range(width):
            from_x, from_y = first_x + cosine * np.int32(x), first_y + sine * np.int32(x)
            left, top = np.floor(from_x), np.floor(from_y)
            across[x] = min(np.int32((from_x - left) * STEPS), np.int32(STEPS - 1))  # just below a whole number it is 1
            down[x] = min(np.int32((from_y - top) * STEPS), np.int32(STEPS - 1))
            beyond = (from_x < -2) | (from_y < -2) | (from_x >= width + 1) | (from_y >= height + 1)
            place = (np.int64(top) + MARGIN - 1) * padded.shape[1] + (np.int64(left) + MARGIN - 1) * channels
            at[x] = -1 if beyond else place
        row = out[y]
        for x in range(width):
            if at[x] < 0:
                row[x * channels : (x + 1) * channels] = outside
                continue
            a, b = np.uint64(across[x]) * np.uint64(4), np.uint64(down[x]) * np.uint64(4)
            b0, b1, b2, b3 = table[b], table[b + np.uint64(1)], table[b + np.uint64(2)], table[b + np.uint64(3)]
            for c in range(channels):
                i = np.uint64(at[x] + c)
                total = np.float32(0)
                for k in range(4):
                    j = i + line
                    upper = b0 * flat[i] + b1 * flat[j]
                    total += table[a + np.uint64(k)] * (upper + b2 * flat[j + line] + b3 * flat[j + line + line])
                    i += step
                row[x * channels + c] = total
    return out
