"""Measures over marks, with their intervals and paired comparisons."""
