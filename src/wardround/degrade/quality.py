"""How far a degraded image is from its original: PSNR and SSIM, and the contrast-to-noise ratio of a target.

Each can be taken over the body alone: black around a patient flatters PSNR and exaggerates what noise does to SSIM.
For a turned or moved image neither says much. White is that of the depth in use; colours count by their luma,
except in PSNR; alpha is left out.
"""

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.core.errors import WardroundError
from wardround.degrade.operations.blur import gaussian
from wardround.degrade.operations.body import Mask
from wardround.degrade.rendering import LUMA, StoredPixels, white_of
from wardround.degrade.signature import Image

SIGMA = 1.5  # Wang et al. 2004: a Gaussian window of 11 x 11
HALF = 5
K1, K2 = 0.01, 0.03
LOOKS_BLACK, LOOKS_WHITE = 0.04, 0.98  # of white, on a display
CHANGED = 0.02  # of white: what hardly changed was not clipped


def psnr(clean: StoredPixels, degraded: StoredPixels, inside: Mask | None = None) -> float:
    """Peak signal-to-noise ratio in decibels; infinite where nothing differs."""
    return _decibels(_error(*_normalize(clean, degraded)), inside)


def ssim(clean: StoredPixels, degraded: StoredPixels, inside: Mask | None = None) -> float:
    """Mean structural similarity where the window lies within the image, or everywhere where it never does."""
    return _mean_within(_similarity(*_normalize(clean, degraded)), inside)


def contrast_to_noise(image: StoredPixels, disc: Mask, ring: Mask, inside: Mask | None = None) -> float:
    """How far the mean of a disc is from that of the ring around it, in standard deviations of the ring."""
    (normalized,) = _normalize(image)
    grey = _grey(normalized).astype(np.float64)
    within, around = (grey[mask if inside is None else mask & inside] for mask in (disc, ring))
    contrast, noise = abs(within.mean() - around.mean()), around.std()
    if noise == 0:
        return math.inf if contrast > 0 else 0.0
    return float(contrast / noise)


def measure_quality(clean: StoredPixels, degraded: StoredPixels, body: Mask) -> dict[str, float | None]:
    """PSNR and SSIM, over the whole image and inside the body, and the clipped share of the body; None is infinite."""
    pair = _normalize(clean, degraded)
    error, similar = _error(*pair), _similarity(*pair)
    quality = {
        "psnr": _decibels(error, None),
        "ssim": _mean_within(similar, None),
        "psnr_body": _decibels(error, body),
        "ssim_body": _mean_within(similar, body),
        "clipped": clipped_share(pair[0], pair[1], body),
    }
    return {name: round(value, 4) if math.isfinite(value) else None for name, value in quality.items()}


def clipped_share(before: Image, after: Image, inside: Mask) -> float:
    """How much of the body came to look black or white: what is nearly so counts, as nothing is seen there either."""
    x, y = _grey(before), _grey(after)
    black = (y < LOOKS_BLACK) & (x >= LOOKS_BLACK + CHANGED)
    white = (y > LOOKS_WHITE) & (x <= LOOKS_WHITE - CHANGED)
    return float((black | white)[inside].mean())


def _over_colours(combine: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """The colours of each pixel combined, plane by plane: many times as fast as along the short last axis."""
    return reduce(combine, np.moveaxis(values, 2, 0))


def _normalize(clean: StoredPixels, *others: StoredPixels) -> list[Image]:
    """Images as (h, w, 1 or 3) from black 0 to white 1, without alpha."""
    channels = 3 if clean.ndim == 3 and clean.shape[2] >= 3 else 1
    normalized = []
    white = white_of(clean.reshape(*clean.shape[:2], -1)[..., :channels])
    for image in (clean, *others):
        if image.shape != clean.shape or image.dtype != clean.dtype or image.dtype not in (np.uint8, np.uint16):
            raise WardroundError("images can be compared if they have one shape and 8 or 16 bits")
        picture = image.reshape(*image.shape[:2], -1)[..., :channels]
        normalized.append(picture.astype(np.float32) / np.float32(white))
    return normalized


def _grey(image: Image) -> Image:
    grey: Image = (image @ LUMA).astype(np.float32, copy=False) if image.shape[2] == 3 else image[..., 0]
    return grey


def _error(before: Image, after: Image) -> Image:
    error: Image = _over_colours(np.add, np.square(before - after))
    error /= np.float32(before.shape[2])
    return error


def _decibels(error: Image, inside: Mask | None) -> float:
    mean = float((error if inside is None else error[inside]).mean(dtype=np.float64))
    return math.inf if mean == 0 else -10 * math.log10(mean)


def _similarity(before: Image, after: Image) -> Image:
    """Wang et al. 2004, eq. 13, at every pixel."""
    middle = np.float32(_grey(before).mean(dtype=np.float64))  # squares of small numbers are the more exact
    x, y = _grey(before) - middle, _grey(after) - middle
    mean_x, mean_y, xx, yy, xy = (gaussian(values, SIGMA) for values in (x, y, x * x, y * y, x * y))
    c1, c2 = np.float32(K1**2), np.float32(K2**2)
    xx, yy, xy = xx - mean_x * mean_x, yy - mean_y * mean_y, xy - mean_x * mean_y
    mean_x, mean_y = mean_x + middle, mean_y + middle
    similar: Image = (2 * mean_x * mean_y + c1) * (2 * xy + c2)
    similar /= (mean_x * mean_x + mean_y * mean_y + c1) * (xx + yy + c2)
    return similar


def _mean_within(similar: Image, inside: Mask | None) -> float:
    counted = np.zeros(similar.shape, bool)
    counted[HALF:-HALF, HALF:-HALF] = True
    for mask in (counted if inside is None else counted & inside, inside):
        if mask is not None and mask.any():
            return float(similar[mask].mean(dtype=np.float64))
    return float(similar.mean(dtype=np.float64))
