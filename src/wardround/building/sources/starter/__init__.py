"""The starter case set: invented patients with public test images, so that a first examination needs no data."""

from wardround.building.sources.starter.starter import build_starter

__all__ = ["build_starter"]
