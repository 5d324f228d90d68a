"""Gaussian blur: out of focus, or a large focal spot. `sigma` is a share of the shorter side."""

from __future__ import annotations

from numpy.random import Generator

from wardround.degrade.operations.blur import gaussian
from wardround.degrade.operations.lengths import side_of
from wardround.degrade.rendering import Image
from wardround.degrade.severities import Severity


def gaussian_blur(image: Image, severity: Severity, rng: Generator) -> Image:
    return gaussian(image, severity["sigma"] * side_of(image))
