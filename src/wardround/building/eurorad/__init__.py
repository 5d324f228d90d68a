"""Eurorad: saved case pages become CURE cases."""

from wardround.building.eurorad.build import build_eurorad

__all__ = ["build_eurorad"]
