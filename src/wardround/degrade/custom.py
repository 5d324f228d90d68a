"""Degradation types that plug-ins add: entry points of `wardround.degradations`, or `--plugins FILE.py`.

from wardround.degrade import CustomDegradation
from wardround.plugins import register

def vignette(image, parameters, rng):
    ...

register("degradations", "vignette", CustomDegradation(vignette, "Intensity", {"strength": (0, 0.3, 0.6)}))
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wardround.core.errors import WardroundError
from wardround.degrade.modalities import MODALITIES, parse_modality
from wardround.degrade.signature import DegradationFunction, LevelValues, Value
from wardround.plugins import extensions

NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class CustomDegradation:
    """A degradation type of a plug-in.

    `function(image, parameters, rng)` returns the degraded image. The image is float32, (h, w) or (h, w, 3), black 0
    and white 1; for a type of CT it is grey, and attenuation relative to water if the file is in Hounsfield units.
    All randomness comes from `rng`, which has the same state at every severity.
    `parameters` gives each parameter's default at L0, L1 and L2: three numbers, or one number or word for all.
    `modality` is one of wardround.degrade.MODALITIES; None fits all images. Raise `version` with every change of what
    is drawn: it is part of the Ask key.
    """

    function: DegradationFunction
    category: str
    parameters: Mapping[str, Value | Sequence[float]]
    modality: str | None = None
    version: int = 1

    def levels(self) -> dict[str, LevelValues]:
        return {name: parse_levels(value) for name, value in self.parameters.items()}


_checked: dict[str, CustomDegradation] = {}


def custom_names() -> list[str]:
    return list(extensions("degradations"))


def custom_degradation(name: str) -> CustomDegradation | None:
    """The plug-in type of this name, checked; None if no plug-in has it."""
    if name not in _checked:
        plugin = extensions("degradations").get(name)
        if plugin is None:
            return None
        record = plugin.load()
        if problem := _problem(name, record):
            raise WardroundError(f"plug-in degradation {name!r} ({plugin.origin}): {problem}")
        _checked[name] = record
    return _checked[name]


def parse_levels(value: Any) -> LevelValues:
    """The values at L0, L1 and L2; ValueError says what is expected."""
    if isinstance(value, str):
        return value, value, value
    numbers = list(value) if isinstance(value, list | tuple) else [value] * 3
    if len(numbers) != 3 or not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        raise ValueError("expected a number, a word, or three numbers: at L0, L1 and L2")
    low, mild, high = (float(number) for number in numbers)
    return low, mild, high


def _problem(name: str, record: object) -> str | None:
    if not isinstance(record, CustomDegradation):
        return f"expected a wardround.degrade.CustomDegradation, not {type(record).__name__}"
    if not NAME.fullmatch(name):
        return "a name has lower-case letters, digits and _, and starts with a letter"
    if not callable(record.function) or type(record.version) is not int:
        return "expected a function and a whole number as its version"
    if record.modality is not None and parse_modality(record.modality) is None:
        return f"modality {record.modality!r} is not one of {', '.join(MODALITIES)}"
    for parameter, value in record.parameters.items():
        try:
            parse_levels(value)
        except ValueError as error:
            return f"parameter {parameter}: {error}"
    return None
