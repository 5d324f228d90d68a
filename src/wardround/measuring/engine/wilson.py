"""Intervals for few cases and for rates near 0 or 1, from the variance between clusters."""

import numpy as np
from scipy.special import ndtri, stdtrit

from wardround.measuring.engine.bootstrap import LEVEL
from wardround.measuring.engine.exact import Floats

Z = float(ndtri((1 + LEVEL) / 2))


def effective_n(share: Floats, n: Floats, clusters: Floats, variance: Floats) -> Floats:
    """n / deff, with deff = variance between clusters / (share (1 - share) / (n - 1)), at least 1.

    If all answers are alike there is no variance to estimate deff from. Then a cluster counts as one answer:
    the largest possible dependence.
    """
    binomial = share * (1 - share)
    no_variance = (binomial <= 0) | (variance <= 0)
    deff = np.maximum(1.0, np.divide(variance * (n - 1), binomial, out=np.ones_like(n), where=binomial > 0))
    return np.where(no_variance, np.minimum(clusters, n), n / deff)


def wilson(share: Floats, n: Floats, z: float = Z) -> tuple[Floats, Floats]:
    """The score interval of a share of n: the shares that it does not contradict at 5%."""
    middle = share + z * z / (2 * n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # at 0 and 1 the ends are exact; elsewhere rounding must not put the share outside its own interval
    low = np.where(share <= 0, 0.0, np.minimum((middle - reach) / scale, share))
    high = np.where(share >= 1, 1.0, np.maximum((middle + reach) / scale, share))
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def student(value: Floats, clusters: Floats, variance: Floats, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    """Value plus and minus t standard errors, within its bounds: for measures that are not shares."""
    reach = stdtrit(clusters - 1, (1 + LEVEL) / 2) * np.sqrt(variance)
    return np.maximum(value - reach, bounds[0]), np.minimum(value + reach, bounds[1])
