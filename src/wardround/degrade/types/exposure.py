"""Exposure: too much or too little light, dose or gain, through the curve of a camera or a display.

Gamma acts on the luma and colours follow it, so that hues stay. Below a floor near black the curve is a straight line
and colours fade: otherwise a longer exposure would turn the compression noise of a black background purple.

`gamma` is the exponent of a darker image and its inverse that of a lighter one. `offset` is added to a darker image
afterwards, and taken from a lighter one. `direction` says `darker`, `lighter` or `either` (drawn); an image that has
no room in that direction goes the other way. `lost`, if it is there, is the most of the body that may come to look
black or white: gamma is nearer to 1 (by half at most) and the offset smaller if it would be more.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator

from wardround.degrade.operations.body import body_brightness
from wardround.degrade.operations.parameters import SEEN, is_lighter, room
from wardround.degrade.rendering import LUMA
from wardround.degrade.signature import Image, SeverityParameters

FLOOR = 0.04  # of white
GREYS = np.arange(256, dtype=np.float32) / np.float32(255)  # of 8 bits


def exposure(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    brightness = body_brightness(image)
    lighter = is_lighter(severity, rng, brightness)
    gamma = 1 / severity["gamma"] if lighter else _darker_gamma(severity, brightness)
    offset = np.float32(_offset(severity, brightness * gain(brightness, gamma), lighter))
    if image.ndim == 2:
        return image * _gain_of_grey(image, gamma) + offset
    luma: Image = (image @ LUMA).astype(np.float32, copy=False)
    colours = np.ascontiguousarray(image).reshape(-1)
    lit: Image = _light_colours(colours, luma.reshape(-1), gain(luma, gamma).reshape(-1), gamma < 1, offset)
    return lit.reshape(image.shape)


def _darker_gamma(severity: SeverityParameters, brightness: Image) -> float:
    gamma: float = severity["gamma"]
    if "lost" not in severity:
        return gamma
    darkest = min(max(float(np.quantile(brightness, severity["lost"])), 1e-3), 1 - 1e-3)
    return max(math.sqrt(gamma), min(gamma, math.log(SEEN[0]) / math.log(darkest)))


def _offset(severity: SeverityParameters, brightness: Image, lighter: bool) -> float:
    """What is added after gamma, of which the brightness is that of the body."""
    offset: float = -severity["offset"] if lighter else severity["offset"]
    if "lost" not in severity:
        return offset
    below, above = room(brightness, severity["lost"], SEEN)
    return min(max(offset, -below), above)


def gain(luma: Image, gamma: float) -> Image:
    """By how much gamma multiplies a luma; constant below the floor."""
    return np.maximum(luma, np.float32(FLOOR)) ** np.float32(gamma - 1)


def _gain_of_grey(image: Image, gamma: float) -> Image:
    """`gain`, from a table of 256 if the image has 8 bits: a power of each pixel takes four times as long."""
    gains, has_8_bits = _look_up(np.ascontiguousarray(image).reshape(-1), gain(GREYS, gamma))
    return gains.reshape(image.shape) if has_8_bits else gain(image, gamma)


@njit("Tuple((float32[::1], boolean))(float32[::1], float32[::1])", cache=True, nogil=True, error_model="numpy")
def _look_up(values: Any, results: Any) -> Any:  # pragma: no cover
    """The result of each value's grey level, and whether every value is one of 256; two loops: the first is vectors."""
    white = np.float32(255)
    levels, others = np.empty(len(values), np.uint8), np.int32(0)
    for place in range(len(values)):
        level = np.int32(values[place] * white + np.float32(0.5))
        others |= np.int32(np.float32(level) / white != values[place])
        levels[place] = np.uint8(level)
    out = np.empty_like(values)
    for place in range(len(values)):
        out[place] = results[levels[place]]
    return out, others == 0


@njit(cache=True, nogil=True)
def _light_colours(colours: Any, luma: Any, brighter: Any, fades: bool, offset: np.float32) -> Any:  # pragma: no cover
    """The three colours of each pixel by what its luma is multiplied by; where they fade, grey takes their place."""
    out = np.empty_like(colours)
    for place in range(len(luma)):
        factor = brighter[place]
        if fades:
            factor *= min(luma[place] / np.float32(FLOOR), np.float32(1))
        added = luma[place] * (brighter[place] - factor) + offset
        out[3 * place] = colours[3 * place] * factor + added
        out[3 * place + 1] = colours[3 * place + 1] * factor + added
        out[3 * place + 2] = colours[3 * place + 2] * factor + added
    return out
