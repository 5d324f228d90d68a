"""Low resolution: a coarse matrix, a thumbnail, a phone's copy of a screen.

The image is made smaller by the mean over each coarse pixel and brought back to its size. `factor` is the side of a
coarse pixel in an image whose shorter side has 512; a larger image has as many coarse pixels, a smaller one fewer.
`method` is how the image is brought back: `cubic` (smooth) or `nearest` (blocks).
"""

from numpy.random import Generator

from wardround.core.errors import WardroundError
from wardround.degrade.operations.resize import downsample_and_restore
from wardround.degrade.signature import Image, SeverityParameters

COUNTED_AT = 512


def low_resolution(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    if severity["method"] not in ("cubic", "nearest"):
        raise WardroundError(f"method {severity['method']!r}: expected cubic or nearest")
    size = min(image.shape[:2]) / COUNTED_AT
    factor = severity["factor"] * size if size > 1 else 1 + (severity["factor"] - 1) * size
    height, width = (max(1, round(side / factor)) for side in image.shape[:2])
    return downsample_and_restore(image, height, width, severity["method"])
