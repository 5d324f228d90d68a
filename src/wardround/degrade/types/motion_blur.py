"""Motion blur: the patient, the probe or the camera moved evenly while the image was taken.

Every point is drawn out along a line of one drawn direction. `length` is that of the line, as a share of the shorter
side.
"""

import math

from numpy.random import Generator

from wardround.degrade.operations.blur import along_line
from wardround.degrade.operations.parameters import reference_side
from wardround.degrade.signature import Image, SeverityParameters


def motion_blur(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    angle = rng.uniform(0, math.pi)
    return along_line(image, severity["length"] * reference_side(image), angle)
