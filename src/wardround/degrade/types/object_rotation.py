"""Rotation: the patient or the film lies askew.

The image is turned about its centre on the same canvas, with black where there was nothing; a slide or skin that fills
the frame has the colour of its background there. The angle is drawn between `least` and `most` degrees, to either side.
"""

import math

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.frame import pad_beyond
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
    padded = pad_beyond(image, MARGIN, MARGIN)
    turn = math.radians(degrees)
    rows, outside = padded.reshape(len(padded), -1), padded[0, 0].reshape(-1)
    return _rotate_rows(rows, WEIGHTS, outside, math.cos(turn), math.sin(turn)).reshape(image.shape)


@njit("float32[:,::1](float32[:,::1], float32[:,::1], float32[::1], float64, float64)", cache=True, nogil=True)
def _rotate_rows(
    padded: Rows, weights: Rows, outside: NDArray[np.float32], cosine: float, sine: float
) -> Rows:  # pragma: no cover
    """The turned image; `outside` is the colour beyond its frame."""
    channels = len(outside)
    height, width = padded.shape[0] - 2 * MARGIN, padded.shape[1] // channels - 2 * MARGIN
    out = np.zeros((height, width * channels), np.float32)
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    for y in range(height):
        first_x = middle_x - cosine * middle_x - sine * (y - middle_y)
        first_y = middle_y - sine * middle_x + cosine * (y - middle_y)
        for x in range(width):
            from_x, from_y = first_x + cosine * x, first_y + sine * x
            if from_x < -2 or from_y < -2 or from_x >= width + 1 or from_y >= height + 1:
                out[y, x * channels : (x + 1) * channels] = outside
                continue
            left, top = math.floor(from_x), math.floor(from_y)
            a = weights[min(int((from_x - left) * STEPS), STEPS - 1)]  # just below a whole number the part is 1
            b = weights[min(int((from_y - top) * STEPS), STEPS - 1)]
            above, upper = padded[top + MARGIN - 1], padded[top + MARGIN]
            lower, below = padded[top + MARGIN + 1], padded[top + MARGIN + 2]
            i = (left + MARGIN - 1) * channels
            for c in range(x * channels, (x + 1) * channels):
                total = np.float32(0)
                for k in range(4):
                    total += a[k] * (b[0] * above[i] + b[1] * upper[i] + b[2] * lower[i] + b[3] * below[i])
                    i += channels
                out[y, c] = total
                i += 1 - 4 * channels
    return out
