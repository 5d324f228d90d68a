"""Eurorad: saved case pages become CURE cases."""

from wardround.building.sources.eurorad.build import build_eurorad

__all__ = ["build_eurorad"]
