"""MedQ-Deg from a pool of clean questions: de-duplicated, degradations assigned, the hierarchy attached."""

from wardround.building.sources.medq_deg.build import Built, build_medq_deg

__all__ = ["Built", "build_medq_deg"]
