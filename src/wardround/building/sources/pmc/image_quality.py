"""Whether a figure is good enough for a question: large enough, not blank, not blurred. The limits are our choice.

Sharpness is the largest step between neighbouring pixels (its 99.9th percentile) in units of the image's own range of
greys (1st to 99th percentile), on the image at most 512 pixels wide: an edge is a step of the whole range in a sharp
image, and spread over many pixels in a blurred one. Measured on 12 real images of nine kinds: as they are none is below
0.07; blurred by a Gaussian of 2% of their width 8 are below the limit, of 4% 9; the others are 128 pixels wide or less.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from wardround.building.audit.images import is_blank
from wardround.building.pipeline.image_files import decode_image
from wardround.cases.images.window import Pixels

UNREADABLE = "cannot be read"
MIN_SIDE = 64  # pixels
MAX_WIDTH = 512
MIN_SHARPNESS = 0.045


def quality_problem(file: Path) -> str | None:
    """What is wrong with a figure, if anything is."""
    image = decode_image(file)
    if image is None:
        return UNREADABLE
    if min(image.shape[:2]) < MIN_SIDE:
        return f"smaller than {MIN_SIDE} pixels"
    if is_blank(image):
        return "blank or almost"
    return "blurred" if sharpness(image) < MIN_SHARPNESS else None


def sharpness(image: Pixels) -> float:
    """The largest step between neighbouring pixels as a share of the range of greys."""
    picture = Image.fromarray(image).convert("L")
    picture.thumbnail((MAX_WIDTH, MAX_WIDTH))
    greys = np.asarray(picture, dtype=np.float64)
    low, high = np.percentile(greys, [1, 99])
    steps = np.concatenate([np.abs(np.diff(greys, axis=axis)).ravel() for axis in (0, 1)])
    return float(np.percentile(steps, 99.9) / max(high - low, 1.0))
