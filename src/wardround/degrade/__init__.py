"""Degraded images: the 18 degradations of MedQ-Deg, at any severity, drawn from the image itself."""

from wardround.degrade.rendering import Degraded, degrade, rendered
from wardround.degrade.severities import profile_named, severity_number
from wardround.degrade.types import CATEGORIES, MODALITIES, TYPES, fits, modality_named, type_named

__all__ = [
    "CATEGORIES",
    "MODALITIES",
    "TYPES",
    "Degraded",
    "degrade",
    "fits",
    "modality_named",
    "profile_named",
    "rendered",
    "severity_number",
    "type_named",
]
