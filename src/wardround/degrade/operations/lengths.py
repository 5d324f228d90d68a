"""Lengths go with the size of an image: it is looked at in one size, however many pixels it has."""

from __future__ import annotations

from wardround.degrade.rendering import Image

LEAST_SIDE = 256  # pixels: a smaller image counts as this large, as less than a pixel could not be seen


def side_of(image: Image) -> int:
    """The length in pixels of which the severity table gives shares: the shorter side."""
    return max(min(image.shape[:2]), LEAST_SIDE)
