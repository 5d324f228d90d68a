"""Brightness: a display or a detector offset that makes the whole image lighter or darker.

A constant is added to every pixel; what passes white or black is lost. `shift` is that constant, `direction` says
whether it makes the image `lighter`, `darker` or is drawn (`either`).
"""

from numpy.random import Generator

from wardround.degrade.operations.parameters import is_lighter
from wardround.degrade.signature import Image, SeverityParameters


def adjust_brightness(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    shift: float = severity["shift"] if is_lighter(severity, rng) else -severity["shift"]
    return image + shift
