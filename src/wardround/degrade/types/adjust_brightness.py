"""Brightness: a display or a detector offset that makes the whole image lighter or darker.

A constant is added to every pixel; what passes white or black is lost. `shift` is that constant, `direction` says
whether it makes the image `lighter`, `darker` or is drawn (`either`).
"""

from __future__ import annotations

from numpy.random import Generator

from wardround.degrade.operations.direction import goes_lighter
from wardround.degrade.rendering import Image
from wardround.degrade.severities import Severity


def adjust_brightness(image: Image, severity: Severity, rng: Generator) -> Image:
    return image + severity["shift"] if goes_lighter(severity, rng) else image - severity["shift"]
