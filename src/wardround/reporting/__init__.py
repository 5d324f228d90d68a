"""What a run found, as a page that a clinician can read."""
