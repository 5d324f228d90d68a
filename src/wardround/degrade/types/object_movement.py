"""Movement: the patient lies off centre, and part of the body is cut off.

The image is moved by whole pixels in a drawn direction, with black where there was nothing; the distance is drawn
between `least` and `most`, as shares of the shorter side. That it is a move of the whole image is our choice, in both
profiles: the published examples of the MedQ-Deg benchmark look like motion between the lines of k-space instead.
"""

import math

import numpy as np
from numpy.random import Generator

from wardround.degrade.signature import Image, SeverityParameters


def object_movement(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    angle, part = rng.uniform(0, 2 * math.pi), rng.random()
    height, width = image.shape[:2]
    share = severity["least"] + part * (severity["most"] - severity["least"])
    distance = share * min(height, width)
    return move(image, round(distance * math.sin(angle)), round(distance * math.cos(angle)))


def move(image: Image, down: int, right: int) -> Image:
    """The image moved on its canvas, with black where there was nothing."""
    out = np.zeros_like(image)
    to_y, from_y = _overlap(image.shape[0], down)
    to_x, from_x = _overlap(image.shape[1], right)
    out[to_y, to_x] = image[from_y, from_x]
    return out


def _overlap(size: int, shift: int) -> tuple[slice, slice]:
    length = max(0, size - abs(shift))
    target, source = (size - length, 0) if shift > 0 else (0, size - length)
    return slice(target, target + length), slice(source, source + length)
