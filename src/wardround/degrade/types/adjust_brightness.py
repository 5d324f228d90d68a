"""Brightness: a display or a detector offset that makes the whole image lighter or darker.

A constant is added to every pixel; what passes white or black is lost. `shift` is that constant, `direction` says
whether it makes the image `lighter`, `darker` or is drawn (`either`); an image that has no room in that direction
goes the other way: a dark scan that is darkened further is black. `lost`, if it is there, is the most of the body that
may become black or white: the constant is smaller if it would be more, but not below half of it.
"""

from numpy.random import Generator

from wardround.degrade.operations.body import body_brightness
from wardround.degrade.operations.parameters import is_lighter, room
from wardround.degrade.signature import Image, SeverityParameters


def adjust_brightness(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    brightness = body_brightness(image)
    lighter = is_lighter(severity, rng, brightness)
    shift: float = severity["shift"]
    if "lost" in severity:
        shift = max(shift / 2, min(shift, room(brightness, severity["lost"])[lighter]))
    return image + (shift if lighter else -shift)
