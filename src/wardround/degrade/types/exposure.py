"""Exposure: too much or too little light, dose or gain, through the curve of a camera or a display.

Gamma acts on the luma and colours follow it, so that hues stay. Below a floor near black the curve is a straight line
and colours fade: otherwise a longer exposure would turn the compression noise of a black background purple.

`gamma` is the exponent of a darker image and its inverse that of a lighter one. `offset` is added to a darker image
afterwards, and taken from a lighter one. `direction` says `darker`, `lighter` or `either` (drawn); an image that has
no room in that direction goes the other way. `lost`, if it is there, is the most of the body that the offset may make
black or white: it is smaller if it would be more.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator

from wardround.degrade.operations.body import body_brightness
from wardround.degrade.operations.parameters import is_lighter, room
from wardround.degrade.rendering import LUMA
from wardround.degrade.signature import Image, SeverityParameters

FLOOR = 0.04  # of white


def exposure(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    brightness = body_brightness(image)
    lighter = is_lighter(severity, rng, brightness)
    gamma = 1 / severity["gamma"] if lighter else severity["gamma"]
    offset = np.float32(_offset(severity, brightness * gain(brightness, gamma), lighter))
    if image.ndim == 2:
        return image * gain(image, gamma) + offset
    luma: Image = (image @ LUMA).astype(np.float32, copy=False)
    brighter = gain(luma, gamma)
    colour: Image = brighter * np.minimum(luma / np.float32(FLOOR), 1) if gamma < 1 else brighter
    added: Image = luma * (brighter - colour) + offset
    lit: Image = _multiply_and_add(image, colour, added)
    return lit


def _offset(severity: SeverityParameters, brightness: Image, lighter: bool) -> float:
    """What is added after gamma, of which the brightness is that of the body."""
    offset: float = -severity["offset"] if lighter else severity["offset"]
    if "lost" not in severity:
        return offset
    below, above = room(brightness, severity["lost"])
    return min(max(offset, -below), above)


def gain(luma: Image, gamma: float) -> Image:
    """By how much gamma multiplies a luma; constant below the floor."""
    return np.maximum(luma, np.float32(FLOOR)) ** np.float32(gamma - 1)


@njit(cache=True, nogil=True)
def _multiply_and_add(image: Any, factors: Any, added: Any) -> Any:  # pragma: no cover
    """All colours of a pixel by its factor, and its summand added: several times as fast as numpy's way."""
    out = np.empty_like(image)
    for y in range(len(image)):
        for x in range(image.shape[1]):
            for colour in range(3):
                out[y, x, colour] = image[y, x, colour] * factors[y, x] + added[y, x]
    return out
