"""Reduced contrast: scattered radiation, a wide window, fog on a lens.

Every value is drawn towards the mean luma of the image, colours too. `factor` is what is left of its distance.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.rendering import LUMA
from wardround.degrade.signature import Image, SeverityParameters


def reduce_contrast(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    means = image.mean(axis=0).mean(axis=0, dtype=np.float64)  # row by row first: that is fast
    mean = float(means @ LUMA) if image.ndim == 3 else float(means)
    return image * np.float32(severity["factor"]) + np.float32(mean * (1 - severity["factor"]))
