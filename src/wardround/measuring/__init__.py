"""Measures over marks, with their intervals and paired comparisons."""

from wardround.measuring.comparisons import compare
from wardround.measuring.families import families
from wardround.measuring.measures import measure
from wardround.measuring.writing import write_measures

__all__ = ["compare", "families", "measure", "write_measures"]
