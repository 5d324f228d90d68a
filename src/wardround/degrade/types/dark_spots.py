"""Dark spots: stain precipitate, pigment and folds that lie on a section and hide a part of it.

Each spot is an irregular patch with a soft, frayed border: it takes `depth` of the light at its darkest, brownish and
unevenly. Some spots are round like a deposit, others long like a fold.
`spots` is their number, `radius` their mean radius, `depth` the share of the light that they take.
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from wardround.degrade.operations.overlay import Box, Field, box, noise, opacities, planes, smoothstep
from wardround.degrade.signature import Image, SeverityParameters

ABSORBED = (0.82, 0.94, 1.0)  # of the light in red, green and blue, by what is brownish black
ABSORBED_GREY = 0.91
MARGIN = 0.2  # of a side: no spot lies mostly outside
REACH = 2.0  # in radii: an outline that bulges lies within
COARSE, FINE = 9, 36  # knots across the reach: of the outline, and of the grain
SHAPE = 6  # numbers that place and shape a spot


def dark_spots(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    spot_opacities = opacities(severity["spots"])
    height, width = image.shape[:2]
    done = image.copy()
    spots = rng.random((len(spot_opacities), SHAPE + COARSE**2 + FINE**2))
    for drawn, opacity in zip(spots, spot_opacities, strict=True):
        y, x = (MARGIN + (1 - 2 * MARGIN) * drawn[:2]) * (height, width) - 0.5
        radius = max(0.5, severity["radius"] * min(height, width) * (0.8 + 0.4 * drawn[2]))
        part = box(image.shape, y, x, REACH * radius)
        cover = _cover(part, radius, drawn)
        for plane, share in planes(done[part.place], ABSORBED, ABSORBED_GREY):
            plane *= np.float32(1) - np.float32(opacity * severity["depth"] * share) * cover
    return done


def _cover(part: Box, radius: float, drawn: NDArray[np.float64]) -> Field:
    """How much of each pixel the spot covers, from 0 to 1."""
    stretch = 1.0 + 0.5 * drawn[3] ** 2  # most are roundish, some are long
    c, s = math.cos(math.tau * drawn[4]) / radius, math.sin(math.tau * drawn[4]) / radius
    along = np.float32(c / stretch) * part.across + np.float32(s / stretch) * part.down
    aside = np.float32(c * stretch) * part.down - np.float32(s * stretch) * part.across
    rough = _surface(part, radius, drawn[SHAPE:])
    inward = np.float32(1) + rough - np.sqrt(along * along + aside * aside)
    softness = max(0.3 + 0.3 * drawn[5], 1.0 / radius)
    cover: Field = smoothstep(inward * np.float32(1 / softness)) * np.clip(rough + np.float32(0.75), 0.4, 1.0)
    return cover


def _surface(part: Box, radius: float, drawn: NDArray[np.float64]) -> Field:
    """Roughness of about -0.6 to 0.6, coarse with a grain on it, that grows with the spot."""
    coarse, fine = drawn[: COARSE**2].reshape(COARSE, COARSE), drawn[COARSE**2 :].reshape(FINE, FINE)
    at = np.linspace(1, COARSE - 2, FINE, dtype=np.float32)
    knots = np.float32(1.3) * noise((coarse - 0.5).astype(np.float32), at, at)
    knots += (0.75 * (fine - 0.5)).astype(np.float32)
    scale, middle = np.float32((FINE - 3) / (2 * REACH * radius)), np.float32((FINE - 1) / 2)
    return noise(knots, part.down * scale + middle, part.across * scale + middle)
