"""Bubble: air caught under the cover slip.

What lies under it is out of focus and, seen through its curved face, a little enlarged. At its edge the light is
turned away: a dark rim, not equally wide nor dark all around, with a bright line inside and a faint one outside.
`bubbles` is their number, `radius` that of the first (the others are smaller), `blur` the sigma of the defocus, `rim`
from 0 (only blur) to 1 how much of rim, lines and enlargement there is.
"""

import math

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.blur import REACH, gaussian
from wardround.degrade.operations.overlay import box, opacities
from wardround.degrade.operations.parameters import reference_side
from wardround.degrade.signature import Image, SeverityParameters

Numbers = NDArray[np.float64]

MARGIN = 0.2  # of a side: no bubble lies mostly outside
PLACES = 6  # that are drawn for each bubble: it lies at the one farthest from those before it
SHAPE = 9  # numbers that shape a bubble
SIZES = (0.5, 0.9)  # of the others, in radii of the first
OUTSIDE = 1.15  # in radii: what is drawn of a bubble lies within
NARROWEST = 1.3, 0.9  # pixels: half the width of a rim, on average and at its narrowest


def bubble(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    bubble_opacities = opacities(severity["bubbles"])
    height, width = image.shape[:2]
    done = image.reshape(height, width, -1).copy()
    blur = severity["blur"] * reference_side(image)
    drawn = rng.random((len(bubble_opacities), SHAPE + 2 * PLACES))
    places = _places(drawn[:, SHAPE:].reshape(-1, PLACES, 2))
    for number, (place, u, opacity) in enumerate(zip(places, drawn, bubble_opacities, strict=True)):
        y, x = place * (height, width) - 0.5
        size = SIZES[0] + (SIZES[1] - SIZES[0]) * u[0] if number else 1.0
        radius = max(0.5, severity["radius"] * min(height, width) * size)
        part = box(image.shape, y, x, OUTSIDE * radius + math.ceil(REACH * blur)).place
        shape = np.array([y, x, radius, 1 - 0.1 * u[1], math.tau * u[2], 0.03 * u[3]])
        rim = np.array([max(0.035 + 0.02 * u[4], NARROWEST[0] / radius), *math.tau * u[5:9]])
        corner, beneath = (part[0].start, part[1].start), gaussian(done[part], blur)
        _draw_bubble(done, beneath, corner, shape, rim, severity["rim"], opacity)
    return done.reshape(image.shape)


def _places(drawn: Numbers) -> list[Numbers]:
    """Where each bubble lies, from 0 to 1 down and across."""
    places: list[Numbers] = []
    for offered in MARGIN + (1 - 2 * MARGIN) * drawn:
        apart = [min((np.abs(place - other).sum() for other in places), default=0.0) for place in offered]
        places.append(offered[int(np.argmax(apart))])
    return places


@njit(cache=True, nogil=True)
def _draw_bubble(
    image: Image, beneath: Image, corner: tuple[int, int], shape: Numbers, rim: Numbers, strength: float, opacity: float
) -> None:  # pragma: no cover
    """Draws one bubble into the image, from the part of it, out of focus, with this corner."""
    top, left = corner
    y, x, radius, aspect, turn, lobe = shape
    edge = max(0.04, 1.5 / radius)
    near = 1 - 6 * rim[0] - edge  # from here on there is a rim or an edge
    c, s = math.cos(turn) / radius, math.sin(turn) / radius
    rows, columns, channels = beneath.shape
    for i in range(rows):
        for j in range(columns):
            down, across = top + i - y, left + j - x
            along, aside = c * across + s * down, (c * down - s * across) / aspect
            rho = math.sqrt(along * along + aside * aside)
            if rho > OUTSIDE:
                continue
            inside, dark, light = 1.0, 0.0, 0.0
            if rho > near:
                cos, sin = along / max(rho, 1e-9), aside / max(rho, 1e-9)
                rho *= 1 + lobe * (4 * cos * cos - 3) * cos  # cos 3 phi
                inside = min(1.0, max(0.0, (1 - rho) / edge + 0.5))
                inside *= inside * (3 - 2 * inside)
                dark, light = _rim(rho, cos, sin, rim, NARROWEST[1] / radius)
            dark *= strength
            light = strength * (light + 0.06 * inside)
            zoom = 1 - strength * 0.12 * max(0.0, 1 - rho * rho)
            from_y = min(max(y - top + down * zoom, 0.0), rows - 1.0)
            from_x = min(max(x - left + across * zoom, 0.0), columns - 1.0)
            i0, j0 = int(from_y), int(from_x)
            i1, j1 = min(i0 + 1, rows - 1), min(j0 + 1, columns - 1)
            t, u = np.float32(from_y - i0), np.float32(from_x - j0)
            for k in range(channels):
                upper = beneath[i0, j0, k] + u * (beneath[i0, j1, k] - beneath[i0, j0, k])
                lower = beneath[i1, j0, k] + u * (beneath[i1, j1, k] - beneath[i1, j0, k])
                old = image[top + i, left + j, k]
                new = (old + inside * (upper + t * (lower - upper) - old)) * (1 - dark)
                new += light * (1 - new)
                image[top + i, left + j, k] = old + opacity * (new - old)


@njit(cache=True, nogil=True)
def _rim(rho: float, cos: float, sin: float, rim: Numbers, least: float) -> tuple[float, float]:  # pragma: no cover
    """How dark the rim is at a place, and how bright the lines beside it are; both change around the bubble."""
    half, wide_at, twice_at, dark_at, light_at = rim
    cos2, sin2 = 2 * cos * cos - 1, 2 * sin * cos
    once = cos * math.cos(wide_at) + sin * math.sin(wide_at)
    twice = cos2 * math.cos(twice_at) + sin2 * math.sin(twice_at)
    width = max(half * (1 + 0.45 * once + 0.3 * twice), least)
    dark = 0.5 + 0.25 * (cos * math.cos(dark_at) + sin * math.sin(dark_at)) + 0.1 * twice
    light = max(0.0, 0.4 + 0.6 * (cos * math.cos(light_at) + sin * math.sin(light_at)))
    out = (rho - 1) / width
    line = 0.55 * _bump((out + 2.1) / 0.7) + 0.3 * _bump((out - 0.7) / 0.7)
    return dark * _bump(out + 0.6), light * line


@njit(cache=True, nogil=True)
def _bump(place: float) -> float:  # pragma: no cover
    """1 at 0, falling smoothly to 0 at -1 and 1."""
    part = max(0.0, 1 - place * place)
    return part * part
