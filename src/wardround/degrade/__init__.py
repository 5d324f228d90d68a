"""Degraded images: the 18 degradations of MedQ-Deg and those of plug-ins, at any severity, drawn from the image.

The module can be called: `wardround.degrade(image, "sparse_view", 0.5)` is `wardround.degrade.degrade(...)`.
"""

import sys
from types import ModuleType
from typing import Any

from wardround.degrade.custom import CustomDegradation
from wardround.degrade.modalities import MODALITIES, parse_modality
from wardround.degrade.rendering import DegradationResult, apply_degradation, degrade
from wardround.degrade.severities import load_profile, parse_severity
from wardround.degrade.types import CATEGORIES, TYPES, category_of, fits, parse_type

__all__ = [
    "CATEGORIES",
    "MODALITIES",
    "TYPES",
    "CustomDegradation",
    "DegradationResult",
    "apply_degradation",
    "category_of",
    "degrade",
    "fits",
    "load_profile",
    "parse_modality",
    "parse_severity",
    "parse_type",
]


class _CallableModule(ModuleType):
    """Python binds `wardround.degrade` to this module; users call the function by the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return degrade(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
