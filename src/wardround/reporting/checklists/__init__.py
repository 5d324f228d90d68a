"""Checklists of reporting guidelines, filled from a run as far as it knows."""
