"""Texts of a source: phrases that reveal the diagnosis, modality words."""
