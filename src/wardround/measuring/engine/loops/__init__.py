"""Loops that numba compiles, for studies of many marks.

Each gives the same numbers, digit by digit, as the NumPy code that small studies use instead: numba takes as long to
load as NumPy to measure such a study. Nothing here is imported unless `compiled.uses_loops`.
"""
