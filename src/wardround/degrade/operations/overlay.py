"""What lies on a slide: things in a fixed order, of which a severity shows the first few, each in its own box.

A real number of them shows the last one partly, so that severity is continuous. What is drawn for one thing never
depends on how many follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Field = NDArray[np.float32]


class Box(NamedTuple):
    """The part of an image that one thing may touch, with the distances of its pixels from the thing's centre."""

    place: tuple[slice, slice]
    down: Field  # (rows, 1)
    across: Field  # (1, columns)


def opacities(count: float) -> list[float]:
    """How much each of a real number of things is seen: all wholly, the last one by what is left."""
    return [min(1.0, count - place) for place in range(math.ceil(count))]


def draws(rng: Generator, things: int, numbers: int) -> NDArray[np.float64]:
    """Uniform numbers for each thing, a row each; more things leave the first rows as they are."""
    return rng.random((things, numbers))


def planes(image: Field, colour: Sequence[float], grey: float) -> Iterator[tuple[Field, float]]:
    """The channels of an image, each with its number: three colours, or the one of grey."""
    if image.ndim == 2:
        yield image, grey
    else:
        yield from ((image[..., channel], each) for channel, each in enumerate(colour))


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
    wide = _woven(knots.T, across.ravel())
    return _woven(np.ascontiguousarray(wide.T), down.ravel())


def _woven(knots: Field, places: Field) -> Field:
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
