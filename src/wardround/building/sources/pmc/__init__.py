"""PMC: articles become ClinBench cases."""

from wardround.building.sources.pmc.build import build_pmc

__all__ = ["build_pmc"]
