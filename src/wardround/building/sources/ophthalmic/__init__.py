"""Ophthalmic images with labels, lesions and grades become X-PCR chains."""

from wardround.building.sources.ophthalmic.build import build_ophthalmic

__all__ = ["build_ophthalmic"]
