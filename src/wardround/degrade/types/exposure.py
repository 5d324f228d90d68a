"""Exposure: too much or too little light, dose or gain, through the curve of a camera or a display.

Gamma acts on the luma and colours follow it, so that hues stay. Below a floor near black the curve is a straight line
and colours fade: otherwise a longer exposure would turn the compression noise of a black background purple.

`gamma` is the exponent of a darker image and its inverse that of a lighter one, `offset` is added afterwards, and
`direction` says `darker`, `lighter` or `either` (drawn).
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.parameters import is_lighter
from wardround.degrade.rendering import LUMA
from wardround.degrade.signature import Image, SeverityParameters

FLOOR = 0.04  # of white


def exposure(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    gamma = 1 / severity["gamma"] if is_lighter(severity, rng) else severity["gamma"]
    offset = np.float32(severity["offset"])
    if image.ndim == 2:
        return image * gain(image, gamma) + offset
    luma: Image = (image @ LUMA).astype(np.float32, copy=False)
    brighter = gain(luma, gamma)
    colour: Image = brighter * np.minimum(luma / np.float32(FLOOR), 1) if gamma < 1 else brighter
    added: Image = luma * (brighter - colour) + offset
    return image * colour[..., None] + added[..., None]


def gain(luma: Image, gamma: float) -> Image:
    """By how much gamma multiplies a luma; constant below the floor."""
    return np.maximum(luma, np.float32(FLOOR)) ** np.float32(gamma - 1)
