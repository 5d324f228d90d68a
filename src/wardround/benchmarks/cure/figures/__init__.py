"""The figures of sections.py, one file each, and what they share."""
