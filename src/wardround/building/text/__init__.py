"""Text of a source: near-duplicates, phrases that reveal the diagnosis, modality words."""
