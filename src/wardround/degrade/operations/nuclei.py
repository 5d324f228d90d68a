"""How large the cell nuclei of a stained slide are: what lies on the slide is drawn to their scale."""

import math

import numpy as np

from wardround.degrade.operations.blur import gaussian
from wardround.degrade.signature import Image

WINDOW = 256  # pixels: the side of the part that is looked at, the one with the most haematoxylin
RADII = np.geomspace(2.0, 24.0, 8)  # pixels
LEAST_STAIN = 0.02  # standard deviation of its optical density: with less there are no nuclei to measure


def nucleus_radius(image: Image) -> float | None:
    """The usual radius of a nucleus in pixels; None if the image is grey or has no haematoxylin.

    Blobs of one radius r stand out most, by the scale-normalised Laplacian, at a blur of r / sqrt(2).
    """
    if image.ndim == 2:
        return None
    stain = _window_of_most(_haematoxylin(image))
    if stain.std() < LEAST_STAIN:
        return None
    strengths = []
    for radius in RADII[min(stain.shape) / 6 > RADII]:
        sigma = radius / math.sqrt(2)
        blobs = gaussian(stain, sigma / 1.25) - gaussian(stain, sigma * 1.25)
        strengths.append(float(np.quantile(blobs, 0.98)))
    return float(RADII[int(np.argmax(strengths))]) if strengths else None


def _haematoxylin(image: Image) -> Image:
    """Its optical density: it absorbs red, eosin does not, and DAB absorbs blue more than red."""
    density = -np.log(np.clip(image, 0.02, 1.0))
    stain: Image = np.maximum(density[..., 0] - np.float32(0.5) * density[..., 2], 0.0).astype(np.float32)
    return stain


def _window_of_most(stain: Image) -> Image:
    height, width = stain.shape
    places = [
        (top, left)
        for top in range(0, max(1, height - WINDOW + 1), max(1, WINDOW // 2))
        for left in range(0, max(1, width - WINDOW + 1), max(1, WINDOW // 2))
    ]
    windows = [stain[top : top + WINDOW, left : left + WINDOW] for top, left in places]
    return np.ascontiguousarray(max(windows, key=lambda window: float(window[::4, ::4].mean())))
