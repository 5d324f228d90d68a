"""Sign-flip tests by trying every sign, and step-down max-T by its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np


def exact_p(differences: Sequence[Fraction | int]) -> Fraction:
    """Share of all sign vectors whose sum is as far from zero as the one seen."""
    result = abs(sum(differences))
    flips = list(product((1, -1), repeat=len(differences)))
    far = sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= result for signs in flips)
    return Fraction(far, len(flips))


def step_down(differences: np.ndarray) -> list[float]:
    """Westfall and Young: hypotheses by falling statistic, each against the maximum over itself and the later ones."""
    clusters, tests = differences.shape
    scale = np.sqrt((differences**2).sum(axis=0))
    values = np.abs(differences.sum(axis=0)) / scale
    order = sorted(range(tests), key=lambda test: -values[test])
    flips = [np.abs(np.array(signs) @ differences) / scale for signs in product((1, -1), repeat=clusters)]
    adjusted, largest = [0.0] * tests, 0.0
    for place, test in enumerate(order):
        rest = order[place:]
        p = sum(max(flip[rest]) >= values[test] - 1e-12 for flip in flips) / len(flips)
        largest = max(largest, p)
        adjusted[test] = largest
    return adjusted
