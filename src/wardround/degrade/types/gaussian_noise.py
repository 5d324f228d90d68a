"""Gaussian noise: the electronics of a detector or a sensor at high gain.

Independent from pixel to pixel and, in a colour image, from channel to channel. `sigma` is its standard deviation.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.normals import standard_normals
from wardround.degrade.signature import Image, SeverityParameters


def gaussian_noise(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    noise = standard_normals(image.shape, rng)
    noise *= np.float32(severity["sigma"])
    noise += image
    return noise
