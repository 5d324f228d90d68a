"""DICOM: a hospital's own studies become a case set; headers and histories are de-identified."""
