"""Objects on a slide, in a fixed order of which a severity shows the first few, each in its own box.

A fractional number of them shows the last one partly, so that severity is continuous. What is drawn for one object,
a row of numbers, never depends on how many follow it.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float32]


class Box(NamedTuple):
    """The part of an image that one object may touch, with the distances of its pixels from the object's centre."""

    place: tuple[slice, slice]
    down: Field  # (rows, 1)
    across: Field  # (1, columns)


def opacities(count: float) -> list[float]:
    """The opacity of each of a fractional number of objects: 1, and the fraction for the last."""
    return [min(1.0, count - place) for place in range(math.ceil(count))]


def planes(image: Field, colour: Sequence[float], grey: float) -> Iterator[tuple[Field, float]]:
    """The channels of an image, each with its value: three colours, or the one of grey."""
    if image.ndim == 2:
        yield image, grey
    else:
        yield from ((image[..., channel], value) for channel, value in enumerate(colour))


def box(shape: tuple[int, ...], y: float, x: float, reach: float) -> Box:
    """The square of a reach around a place inside the image, cut to the image."""
    top, left = max(0, math.floor(y - reach)), max(0, math.floor(x - reach))
    bottom, right = min(shape[0], math.ceil(y + reach) + 1), min(shape[1], math.ceil(x + reach) + 1)
    down = np.arange(top, bottom, dtype=np.float32)[:, None] - np.float32(y)
    across = np.arange(left, right, dtype=np.float32)[None, :] - np.float32(x)
    return Box((slice(top, bottom), slice(left, right)), down, across)


def smoothstep(values: Field) -> Field:
    """From 0 to 1 with a soft start and end."""
    part = np.clip(values, np.float32(0), np.float32(1))
    return part * part * (np.float32(3) - np.float32(2) * part)


def noise(knots: Field, down: Field, across: Field) -> Field:
    """A smooth random surface: cubic B-splines over a grid of knots, at places given in knots."""
    wide = _interpolate_knots(knots.T, across.ravel())
    return _interpolate_knots(np.ascontiguousarray(wide.T), down.ravel())


def _interpolate_knots(knots: Field, places: Field) -> Field:
    """Along the first axis, the four knots around each place with their weights; beyond the grid its edge goes on."""
    first = np.floor(places)
    t = places - first
    s = np.float32(1) - t
    inner, outer = ((3 * u - 6) * u * u + 4 for u in (t, s))
    surface = np.zeros((len(places), knots.shape[1]), np.float32)
    for step, weight in enumerate((s * s * s, inner, outer, t * t * t), start=-1):
        rows = knots[np.clip(first.astype(np.intp) + step, 0, len(knots) - 1)]
        rows *= (weight * np.float32(1 / 6))[:, None]
        surface += rows
    return surface
