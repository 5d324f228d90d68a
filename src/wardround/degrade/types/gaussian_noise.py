"""Gaussian noise: the electronics of a detector or a sensor at high gain.

Independent from pixel to pixel and, in a colour image, from channel to channel: a sensor has one for each. A scan with
coloured marks (flow in ultrasound, an arrow on a CT) has grey noise. `sigma` is its standard deviation.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.normals import standard_normals
from wardround.degrade.signature import Image, SeverityParameters

COLOURED = 0.03  # of white: how much the colours of a pixel differ
LEAST_COLOURED = 0.25  # of the pixels of a photograph or a slide
SAMPLES = 128  # along the shorter side


def gaussian_noise(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    has_grey_noise = image.ndim == 3 and _coloured_share(image) < LEAST_COLOURED
    noise = standard_normals(image.shape[:2] if has_grey_noise else image.shape, rng)
    noise *= np.float32(severity["sigma"])
    if has_grey_noise:
        return image + noise[..., None]
    noise += image
    return noise


def _coloured_share(image: Image) -> float:
    step = max(1, min(image.shape[:2]) // SAMPLES)
    red, green, blue = (np.ascontiguousarray(image[::step, ::step, colour]) for colour in range(3))
    highest, lowest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return float((highest - lowest > COLOURED).mean())
