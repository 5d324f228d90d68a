"""Rotation of an image about its centre, on the same canvas, with black where there was nothing.

A rotation is three shears (Paeth, 1986), and a shear moves each row by a distance of its own: fast, and sharper than
the usual bilinear rotation, since each move is a cubic. Whole quarter turns are made first and lose nothing.
"""

from __future__ import annotations

import math

import numpy as np

from wardround.degrade.rendering import Image
from wardround.degrade.resize import catmull_rom
from wardround.degrade.weighted import rows_like, transposed, weighted_rows

MARGIN = 4  # of black beside what a row shows: the cubic reads two pixels on


def rotated(image: Image, degrees: float) -> Image:
    """The image, (h, w) or (h, w, c), turned counterclockwise."""
    height, width = image.shape[:2]
    quarters = round(degrees / 90)
    turned = np.rot90(image, quarters)
    rest = math.radians(degrees - 90 * quarters)
    slope = math.tan(rest / 2)
    wide = turned.shape[1] + math.ceil(abs(slope) * turned.shape[0]) + MARGIN
    turned = _sheared(turned, slope, wide)
    turned = transposed(_sheared(transposed(turned), -math.sin(rest), height))
    return _sheared(turned, slope, width)


def _sheared(image: Image, slope: float, width: int) -> Image:
    """Each row moved right by slope times its distance below the middle, and cut or filled to a new width."""
    height, old = image.shape[:2]
    channels = image.size // (height * old)
    down = np.arange(height) - (height - 1) / 2
    start = (old - width) / 2 - slope * down
    first = np.floor(start).astype(np.int64)
    weights = catmull_rom(start - first).astype(np.float32)
    left = np.clip(first, -width - MARGIN, old + MARGIN)
    before, after = max(0, 2 - left.min()), max(0, left.max() + width + 2 - old)
    padded = np.zeros((height, before + old + after, *image.shape[2:]), np.float32)
    padded[:, before : before + old] = image
    index = np.repeat(np.arange(height), 4).reshape(height, 4)
    offset = (left[:, None] + before + rows_like(np.arange(-1, 3), height)) * channels
    return weighted_rows(padded.reshape(height, -1), index, offset, weights, width * channels).reshape(
        height, width, *image.shape[2:]
    )
