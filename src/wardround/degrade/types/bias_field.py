"""Bias field: an MRI image that is brighter on one side, because the coil receives better from there.

The image is multiplied by the exponential of a random polynomial of third order, which is smooth and never negative.

`ratio` is how many times brighter the brightest part of the body is made than the darkest (98th to 2nd percentile of
the field inside the body), whatever was drawn: the field is spanned over the body, goes on outside as it is at the
edge, and leaves the body's mean brightness alone, unless the brightest of it would become white: then all is darker,
since a scanner loses nothing at the bright side. Terms of order n are divided by n!, or else the change would lie in a
corner. `coefficient` is instead the limit of each coefficient over the whole image, neither normalised nor centred (as
in TorchIO).
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.body import body_mask
from wardround.degrade.signature import Image, SeverityParameters

ORDER = 3
TERMS = [(i, j) for i in range(ORDER + 1) for j in range(ORDER + 1 - i)]  # y to the i, x to the j
BRIGHTEST = 99.5  # percentile of the body that must not become white
SAMPLES = 128  # along the shorter side, to find percentiles


def bias_field(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    drawn = np.zeros((ORDER + 1, ORDER + 1), np.float32)
    flatter = np.zeros_like(drawn)
    for i, j in TERMS:
        drawn[i, j] = rng.uniform(-1, 1)
        flatter[i, j] = drawn[i, j] / math.factorial(i + j)
    height, width = image.shape
    if "coefficient" in severity:
        y, x = (np.linspace(-1, 1, size, dtype=np.float32) for size in (height, width))
        gain: Image = np.exp(np.float32(severity["coefficient"]) * _polynomial(drawn, y, x))
        return image * gain
    body = body_mask(image)
    y, x = _body_coordinates(np.any(body, axis=1)), _body_coordinates(np.any(body, axis=0))
    exponent = _polynomial(flatter, y, x)
    step = max(1, min(height, width) // SAMPLES)
    inside = body[::step, ::step]
    values, intensities = exponent[::step, ::step][inside], image[::step, ::step][inside]
    if values.size == 0 or np.ptp(values) < 1e-6:
        return image
    low, high = _percentile(values, (2, 98))
    exponent *= np.float32(math.log(severity["ratio"]) / max(high - low, 1e-6))
    field: Image = np.exp(exponent, out=exponent)
    shaded = field[::step, ::step][inside] * intensities
    brighter = float(shaded.sum()) / max(float(intensities.sum()), 1e-6)
    limit = max(1.0, float(_percentile(intensities, BRIGHTEST)))  # what is white already may stay so
    brighter = max(brighter, float(_percentile(shaded, BRIGHTEST)) / limit)
    return image * (field / np.float32(max(brighter, 1e-6)))


def _percentile(values: Image, percent: float | tuple[float, float]) -> NDArray[np.floating]:
    """numpy's, which is found in sorted numbers, sorting included, in less than half the time."""
    return np.asarray(np.percentile(np.sort(values), percent))


def _polynomial(drawn: Image, y: Image, x: Image) -> Image:
    by_row = np.stack([y**i for i in range(ORDER + 1)], axis=1) @ drawn
    total: Image = np.multiply.outer(by_row[:, ORDER], x)
    for j in range(ORDER - 1, 0, -1):
        total += by_row[:, j, None]
        total *= x
    total += by_row[:, 0, None]
    return total


def _body_coordinates(occupied: NDArray[np.bool_]) -> Image:
    """Coordinates from -1 to 1 over what is occupied, and no further."""
    places = np.flatnonzero(occupied)
    middle, half = (places[0] + places[-1]) / 2, max((places[-1] - places[0]) / 2, 0.5)
    coordinates: Image = np.clip((np.arange(len(occupied)) - middle) / half, -1, 1).astype(np.float32)
    return coordinates
