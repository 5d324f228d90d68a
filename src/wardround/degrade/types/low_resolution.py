"""Low resolution: a coarse matrix, a thumbnail, a phone's copy of a screen.

The image is made smaller by the mean over each coarse pixel and brought back to its size. `factor` is the side of a
coarse pixel in an image whose shorter side has 512; it grows and shrinks with the size of the image. `method` is how
the image is brought back: `cubic` (smooth) or `nearest` (blocks).
"""

from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.operations.parameters import reference_side
from wardround.degrade.operations.resize import downsample_and_restore
from wardround.degrade.signature import Image, SeverityParameters

COUNTED_AT = 512


def low_resolution(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    if severity["method"] not in ("cubic", "nearest"):
        raise WardroundError(f"method {severity['method']!r}: expected cubic or nearest")
    factor = 1 + (severity["factor"] - 1) * reference_side(image) / COUNTED_AT
    height, width = (max(1, round(side / factor)) for side in image.shape[:2])
    return downsample_and_restore(image, height, width, severity["method"])
