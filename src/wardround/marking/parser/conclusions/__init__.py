"""Conclusions in words that no phrase or option text has."""
