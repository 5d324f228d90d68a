"""Movement: the patient lies off centre, and part of the body is cut off.

The image is moved by whole pixels in a drawn direction, with black where there was nothing. A slide has glass there;
where skin or tissue fills the frame, it goes on. The distance is drawn between `least` and `most`, as shares of the
shorter side. That it is a move of the whole image is our choice, in both profiles: the published examples of the
MedQ-Deg benchmark look like motion between the lines of k-space instead.
"""

import math

from numpy.random import Generator

from wardround.degrade.operations.frame import pad_beyond
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
    wide = pad_beyond(image, abs(down), abs(right))
    top, left = abs(down) - down, abs(right) - right
    return wide[top : top + height, left : left + width]
