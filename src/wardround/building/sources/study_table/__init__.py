"""A hospital's table of studies with diagnoses, one row an image or a study, becomes choice questions."""
