"""Motion blur: the patient, the probe or the camera moved evenly while the image was taken.

Every point is drawn out along a line of one drawn direction. `length` is that of the line, as a share of the shorter
side.
"""

from __future__ import annotations

import math

from numpy.random import Generator

from wardround.degrade.operations.blur import along_line
from wardround.degrade.operations.lengths import side_of
from wardround.degrade.rendering import Image
from wardround.degrade.severities import Severity


def motion_blur(image: Image, severity: Severity, rng: Generator) -> Image:
    angle = rng.uniform(0, math.pi)
    return along_line(image, severity["length"] * side_of(image), angle)
