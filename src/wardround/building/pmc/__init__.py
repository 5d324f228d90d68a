"""PMC: articles become ClinBench cases."""

from wardround.building.pmc.build import build_pmc

__all__ = ["build_pmc"]
