"""Low resolution: a coarse matrix, a thumbnail, a phone's copy of a screen.

The image is made smaller by the mean over each coarse pixel and brought back to its size. `factor` is the side of a
coarse pixel in an image whose shorter side has 512; it grows and shrinks with the size of the image. `method` is how
the image is brought back: `cubic` (smooth) or `nearest` (blocks).
"""

from __future__ import annotations

from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.operations.lengths import side_of
from wardround.degrade.operations.resize import through_smaller
from wardround.degrade.rendering import Image
from wardround.degrade.severities import Severity

COUNTED_AT = 512


def low_resolution(image: Image, severity: Severity, rng: Generator) -> Image:
    if severity["method"] not in ("cubic", "nearest"):
        raise WardroundError(f"method {severity['method']!r}: expected cubic or nearest")
    height, width = image.shape[:2]
    factor = 1 + (severity["factor"] - 1) * side_of(image) / COUNTED_AT
    return through_smaller(image, max(1, round(height / factor)), max(1, round(width / factor)), severity["method"])
