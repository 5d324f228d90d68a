"""Brightness: a display or a detector offset that makes the whole image lighter or darker.

A constant is added to every pixel; what passes white or black is lost. `shift` is that constant, `direction` says
whether it makes the image `lighter`, `darker` or is drawn (`either`); an image that has no room in that direction
goes the other way: a dark scan that is darkened further is black. `lost`, if it is there, is the most of the body that
may come to look black or white: the constant is smaller if it would be more, but not below a third of it. In a colour
image the middle one of the three colours counts: a retina of which only the red is left shows no vessels.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.body import body_brightness
from wardround.degrade.operations.parameters import SEEN, is_lighter, room
from wardround.degrade.signature import Image, SeverityParameters

LEAST = 1 / 3  # of the shift


def adjust_brightness(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    brightness = body_brightness(image)
    lighter = is_lighter(severity, rng, brightness)
    shift: float = severity["shift"]
    if "lost" in severity:
        middle = brightness if image.ndim == 2 else body_brightness(_middle_colour(image))
        shift = max(LEAST * shift, min(shift, room(middle, severity["lost"], SEEN)[lighter]))
    return image + (shift if lighter else -shift)


def _middle_colour(image: Image) -> Image:
    red, green, blue = (image[..., colour] for colour in range(3))
    return np.maximum(np.minimum(red, green), np.minimum(np.maximum(red, green), blue))
