"""Intervals from their definitions: Wilson by solving the score equation, resampling by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import bootstrap, chi2, norm, t


def wilson_by_solving(share: float, n: float) -> tuple[float, float]:
    """The two truths at which the observed share is just 1.96 standard errors away."""
    z = norm.ppf(0.975)

    def away(truth: float) -> float:
        return (share - truth) ** 2 * n - z**2 * truth * (1 - truth)

    if share in (0, 1):  # one root is the share itself, the other is known
        return (0.0, z**2 / (n + z**2)) if share == 0 else (n / (n + z**2), 1.0)
    return brentq(away, 0.0, share, xtol=1e-14), brentq(away, share, 1.0, xtol=1e-14)


def rate_by_solving(share: float, n: float) -> tuple[float, float]:
    """Wilson's interval; with at most three events (or three but all) that end is Poisson's one-sided 95% limit."""
    low, high = wilson_by_solving(share, n)
    if 0 < share * n <= 3:
        low = min(low, chi2.ppf(0.05, 2 * share * n) / 2 / n)
    if 0 < (1 - share) * n <= 3:
        high = max(high, 1 - chi2.ppf(0.05, 2 * (1 - share) * n) / 2 / n)
    return low, high


def design_effect(right: Sequence[float], answers: Sequence[float], added: float = 0.0) -> float:
    """Variance of a ratio between clusters, over that of as many independent answers.

    `added`: so much of a cluster with all answers right, and of one with none, is put to the others.
    """
    size = sum(answers) / len(answers)
    shares = [*((x, m, 1.0) for x, m in zip(right, answers, strict=True)), (size, size, added), (0.0, size, added)]
    clusters, n = sum(weight for _, _, weight in shares), sum(weight * m for _, m, weight in shares)
    share = sum(weight * x for x, _, weight in shares) / n
    squares = sum(weight * (x - share * m) ** 2 for x, m, weight in shares)
    between = clusters / (clusters - 1) * squares / n**2
    return max(1.0, between / (share * (1 - share) / (n - 1)))


def effective_answers(right: Sequence[float], answers: Sequence[float]) -> float:
    """The number of independent answers that clusters are worth: Korn and Graubard's, or with half clusters added."""
    n, clusters = sum(answers), len(answers)
    wrong_in, right_in = (
        sum(flags) for flags in ((x < m for x, m in zip(right, answers, strict=True)), map(bool, right))
    )
    if not 0 < sum(right) < n:
        return clusters
    if min(wrong_in, right_in) < min(10, clusters):
        return n / design_effect(right, answers, added=0.5)
    return n / design_effect(right, answers) * (t.ppf(0.975, n - 1) / t.ppf(0.975, clusters - 1)) ** 2


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
