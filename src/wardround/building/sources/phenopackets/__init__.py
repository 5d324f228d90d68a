"""`wardround build phenopackets`: GA4GH phenopackets become rare-disease cases."""

from wardround.building.sources.phenopackets.build import build_phenopackets

__all__ = ["build_phenopackets"]
