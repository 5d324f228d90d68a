"""Whether a figure file is good enough to be asked about: large enough, not blank, not blurred. Limits: our choice.

Sharpness is the largest step between neighbouring pixels (its 99.9th percentile) in units of the image's own range of
greys (1st to 99th percentile), on the image at most 512 pixels wide: an edge is a step of the whole range in a sharp
image, and spread over many pixels in a blurred one. Measured on 12 real images of nine kinds: as they are none is below
0.07; blurred by a Gaussian of 2% of their width 8 are below the limit, of 4% 9; the others are 128 pixels wide or less.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from wardround.building.audit.look import is_blank
from wardround.building.pipeline.image_files import shown
from wardround.cases.images.window import Pixels

SMALLEST = 64  # pixels of the shorter side
WIDEST = 512
SHARPEST_STEP = 0.045


def wrong_with(file: Path) -> str | None:
    """What is wrong with a figure, if anything is."""
    look = shown(file)
    if look is None:
        return "cannot be read"
    if min(look.shape[:2]) < SMALLEST:
        return f"smaller than {SMALLEST} pixels"
    if is_blank(look):
        return "blank or almost"
    return "blurred" if sharpness(look) < SHARPEST_STEP else None


def sharpness(look: Pixels) -> float:
    """The largest step between neighbouring pixels as a share of the range of greys."""
    picture = Image.fromarray(look).convert("L")
    picture.thumbnail((WIDEST, WIDEST))
    greys = np.asarray(picture, dtype=np.float64)
    low, high = np.percentile(greys, [1, 99])
    steps = np.concatenate([np.abs(np.diff(greys, axis=axis)).ravel() for axis in (0, 1)])
    return float(np.percentile(steps, 99.9) / max(high - low, 1.0))
