"""Paired comparisons: differences with tests, ranks, groups, crossed effects and power."""
