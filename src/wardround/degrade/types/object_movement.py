"""Movement: the patient lies off centre, and part of the body is cut off.

The image is moved by whole pixels in a drawn direction, with black where there was nothing; a slide or skin that fills
the frame has the colour of its background there. The distance is drawn between `least` and `most`, as shares of the
shorter side. That it is a move of the whole image is our choice, in both profiles: the published examples of the
MedQ-Deg benchmark look like motion between the lines of k-space instead.
"""

import math

from numpy.random import Generator

from wardround.degrade.operations.frame import blank_canvas
from wardround.degrade.signature import Image, SeverityParameters


def object_movement(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    angle, part = rng.uniform(0, 2 * math.pi), rng.random()
    height, width = image.shape[:2]
    share = severity["least"] + part * (severity["most"] - severity["least"])
    distance = share * min(height, width)
    return move(image, round(distance * math.sin(angle)), round(distance * math.cos(angle)))


def move(image: Image, down: int, right: int) -> Image:
    """The image moved on its canvas: what lies beyond its frame comes in."""
    height, width = image.shape[:2]
    moved = blank_canvas(image, height, width)
    (to_rows, from_rows), (to_columns, from_columns) = _overlap(height, down), _overlap(width, right)
    moved[to_rows, to_columns] = image[from_rows, from_columns]
    return moved


def _overlap(size: int, shift: int) -> tuple[slice, slice]:
    """Where along a side the moved image lies on its canvas, and which part of the image that is."""
    return slice(max(shift, 0), max(size + min(shift, 0), 0)), slice(max(-shift, 0), max(size - max(shift, 0), 0))
