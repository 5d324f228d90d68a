"""A hospital's own studies become a case set; headers and histories are de-identified on the way."""

from wardround.building.sources.dicom.build import build_dicom

__all__ = ["build_dicom"]
