"""Gaussian blur: out of focus, or a large focal spot. `sigma` is a share of the shorter side."""

from numpy.random import Generator

from wardround.degrade.operations.blur import gaussian
from wardround.degrade.operations.parameters import reference_side
from wardround.degrade.signature import Image, SeverityParameters


def gaussian_blur(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    return gaussian(image, severity["sigma"] * reference_side(image))
