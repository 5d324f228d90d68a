"""Rotation: the patient or the film lies askew.

The image is turned about its centre on the same canvas, with black where there was nothing; a slide or skin that fills
the frame goes on there, mirrored. The angle is drawn between `least` and `most` degrees, to either side.
"""

import math

import numpy as np
from numba import njit
from numpy.random import Generator

from wardround.degrade.operations.frame import fills_frame, pad_beyond
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
    height, width = image.shape[:2]
    channels = image.size // (height * width)
    turn = math.radians(degrees)
    cosine, sine = math.cos(turn), math.sin(turn)
    down = across = MARGIN
    if fills_frame(image):  # as far as the turned canvas reaches beyond the image
        down += math.ceil(max(0.0, (abs(cosine) - 1) * height + abs(sine) * width) / 2)
        across += math.ceil(max(0.0, (abs(cosine) - 1) * width + abs(sine) * height) / 2)
    padded = np.ascontiguousarray(pad_beyond(image, down, across))
    rows = padded.reshape(len(padded), -1)
    return _rotate_rows(rows, WEIGHTS, channels, cosine, sine, down, across).reshape(image.shape)


@njit("float32[:,::1](float32[:,::1], float32[:,::1], int64, float64, float64, int64, int64)", cache=True, nogil=True)
def _rotate_rows(
    padded: Rows, weights: Rows, channels: int, cosine: float, sine: float, down: int, across: int
) -> Rows:  # pragma: no cover
    """The image of which `padded` has `down` rows more above and below, and `across` columns left and right."""
    height, width = padded.shape[0] - 2 * down, padded.shape[1] // channels - 2 * across
    out = np.zeros((height, width * channels), np.float32)
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    for y in range(height):
        first_x = middle_x - cosine * middle_x - sine * (y - middle_y)
        first_y = middle_y - sine * middle_x + cosine * (y - middle_y)
        for x in range(width):
            from_x, from_y = first_x + cosine * x, first_y + sine * x
            if from_x < 1 - across or from_y < 1 - down or from_x >= width + across - 2 or from_y >= height + down - 2:
                continue
            left, top = math.floor(from_x), math.floor(from_y)
            a = weights[min(int((from_x - left) * STEPS), STEPS - 1)]  # just below a whole number the part is 1
            b = weights[min(int((from_y - top) * STEPS), STEPS - 1)]
            above, upper = padded[top + down - 1], padded[top + down]
            lower, below = padded[top + down + 1], padded[top + down + 2]
            i = (left + across - 1) * channels
            for c in range(x * channels, (x + 1) * channels):
                total = np.float32(0)
                for k in range(4):
                    total += a[k] * (b[0] * above[i] + b[1] * upper[i] + b[2] * lower[i] + b[3] * below[i])
                    i += channels
                out[y, c] = total
                i += 1 - 4 * channels
    return out
