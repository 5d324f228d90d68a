"""Intervals from their definitions: Wilson by solving the score equation, resampling by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import bootstrap, norm


def wilson_by_solving(share: float, n: float) -> tuple[float, float]:
    """The two truths at which the observed share is just 1.96 standard errors away."""
    z = norm.ppf(0.975)

    def away(truth: float) -> float:
        return (share - truth) ** 2 * n - z**2 * truth * (1 - truth)

    if share in (0, 1):  # one root is the share itself, the other is known
        return (0.0, z**2 / (n + z**2)) if share == 0 else (n / (n + z**2), 1.0)
    return brentq(away, 0.0, share, xtol=1e-14), brentq(away, share, 1.0, xtol=1e-14)


def design_effect(right: Sequence[float], answers: Sequence[float]) -> float:
    """Variance of a ratio between clusters, over that of as many independent answers."""
    clusters, n = len(right), sum(answers)
    share = sum(right) / n
    squares = sum((x - share * m) ** 2 for x, m in zip(right, answers, strict=True))
    between = clusters / (clusters - 1) * squares / n**2
    return max(1.0, between / (share * (1 - share) / (n - 1)))


def scipy_ratio_interval(part: Sequence[float], whole: Sequence[float], resamples: int = 20_000) -> tuple[float, float]:
    """scipy's percentile bootstrap of sum(part) / sum(whole) over clusters."""
    values = bootstrap(
        (np.asarray(part, float), np.asarray(whole, float)),
        lambda x, m, axis: x.sum(axis=axis) / m.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(20),
    )
    return values.confidence_interval.low, values.confidence_interval.high


def standard_error(part: Sequence[float], whole: Sequence[float]) -> float:
    """Of a ratio, from its clusters."""
    clusters, n = len(part), sum(whole)
    value = sum(part) / n
    return sqrt(clusters / (clusters - 1) * sum((x - value * m) ** 2 for x, m in zip(part, whole, strict=True))) / n
