"""Rotation: the patient or the film lies askew.

The image is turned about its centre on the same canvas, with black where there was nothing. The angle is drawn between
`least` and `most` degrees, to either side.
"""

from __future__ import annotations

from numpy.random import Generator

from wardround.degrade.operations.warp import rotated
from wardround.degrade.rendering import Image
from wardround.degrade.severities import Severity


def object_rotation(image: Image, severity: Severity, rng: Generator) -> Image:
    sign, part = rng.choice([-1.0, 1.0]), rng.random()
    return rotated(image, sign * (severity["least"] + part * (severity["most"] - severity["least"])))
