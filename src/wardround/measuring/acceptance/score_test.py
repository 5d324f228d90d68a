"""Score tests of a mean over clusters, and sign flips of its distance from a boundary.

The null hypothesis fixes the mean at a boundary. The score test takes the variance from the most likely distribution
with that mean on the values seen and on the two bounds: of one answer per cluster it is Wilson's test of a share and
Tango's of a paired difference. The bounds matter if few clusters differ: with none that does, the variance seen is 0,
yet a difference of the size of the margin could easily have stayed unseen.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from wardround.core.random import stream
from wardround.measuring.comparing.signflip import EXACT_UNDER, FLIPS
from wardround.measuring.engine.exact import Floats

ROUNDING = 1e-12
DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class ClusterMeans:
    """A mean over clusters: their values within bounds, and their sizes."""

    values: Floats
    sizes: Floats
    bounds: tuple[float, float]
    seed: int

    @property
    def mean(self) -> float:
        return float((self.values * self.sizes).sum() / self.sizes.sum())

    def p_above(self, boundary: float) -> float:
        """One-sided p of a mean that is not above the boundary: the larger one of the two tests."""
        return max(self._score_p(boundary), self._flip_p(boundary))

    def p_below(self, boundary: float) -> float:
        """One-sided p of a mean that is not below the boundary."""
        return self._opposite.p_above(-boundary)

    def interval(self, alpha: float) -> tuple[float, float]:
        """The boundaries that neither test rejects at `alpha` on one side."""
        return self._lower_bound(alpha), -self._opposite._lower_bound(alpha)

    def variance(self, boundary: float) -> float:
        """Per cluster, under the most likely distribution whose mean is the boundary."""
        return null_variance((self.values - boundary) * self.sizes / self.sizes.mean(), *self._reach(boundary))

    @cached_property
    def _opposite(self) -> "ClusterMeans":
        return ClusterMeans(-self.values, self.sizes, (-self.bounds[1], -self.bounds[0]), self.seed)

    @cached_property
    def _subset_means(self) -> Floats:
        return subset_means(self.values * self.sizes, self.sizes, self.seed)

    def _reach(self, boundary: float) -> tuple[float, float]:
        """The distances of the bounds from the boundary, which lies between them."""
        return self.bounds[0] - boundary, self.bounds[1] - boundary

    def _score_p(self, boundary: float) -> float:
        if not self.bounds[0] < boundary < self.bounds[1]:
            return 0.0 if boundary <= self.bounds[0] and self.mean > boundary else 1.0
        distance = (self.mean - boundary) * np.sqrt(len(self.values))
        variance = self.variance(boundary)
        return float(scipy.special.ndtr(-distance / np.sqrt(variance))) if variance > 0 else float(distance <= 0)

    def _flip_p(self, boundary: float) -> float:
        """The share of sign flips of the distances from the boundary whose sum is as large as the observed one."""
        reached = np.searchsorted(self._subset_means, boundary + ROUNDING, side="right")
        return float((1 + reached) / (1 + len(self._subset_means)))

    def _lower_bound(self, alpha: float) -> float:
        low, mean = self.bounds[0], self.mean
        rank = int(alpha * (1 + len(self._subset_means))) - 1
        by_flips = float(self._subset_means[rank]) if rank >= 0 else low
        lowest = low + ROUNDING
        if mean <= lowest or self._score_p(lowest) > alpha:
            return low
        by_score = float(
            scipy.optimize.brentq(lambda boundary: self._score_p(boundary) - alpha, lowest, mean, xtol=1e-10)
        )
        return max(min(by_flips, by_score), low)


def null_variance(distances: Floats, low: float, high: float) -> float:
    """The variance of the most likely distribution of mean 0 on these values and on the bounds `low` < 0 < `high`.

    Its weights are 1 / (n (1 + tilt x)) (Owen's empirical likelihood); a bound that no value reaches takes what is
    missing to 1.
    """
    limits = -1 / max(high, distances.max()), -1 / min(low, distances.min())
    inside = [end * (1 - ROUNDING) for end in limits]

    def mean(tilt: float) -> float:
        return float((distances / (1 + tilt * distances)).sum())

    if mean(inside[0]) * mean(inside[1]) < 0:
        tilt = float(scipy.optimize.brentq(mean, *inside, xtol=1e-14))
        extreme = 0.0
    else:  # all values are on one side of 0, or nearly: the other bound balances them
        tilt, extreme = (limits[1], low) if distances.sum() > 0 else (limits[0], high)
    scale = 1 + tilt * distances
    weights = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > ROUNDING) / len(distances)
    missing = max(1 - float(weights.sum()), 0.0)
    return float((weights * distances**2).sum()) + missing * extreme**2


def subset_means(values: Floats, sizes: Floats, seed: int) -> Floats:
    """The means over subsets of clusters, sorted: over all of them, or 10,000 seeded ones.

    Flipping the signs of the distances from a boundary in a subset leaves their sum as large as observed if and only
    if the mean of that subset is at most the boundary. So these means are p at every boundary, and their quantiles
    are the ends of the interval (Hartigan 1969).
    """
    count = len(values)
    means = []
    if count < EXACT_UNDER:
        numbers = np.arange(1, 2**count)
        height = max(1, DRAWN_AT_ONCE // count)
        for first in range(0, len(numbers), height):
            chosen = ((numbers[first : first + height, None] >> np.arange(count)) & 1).astype(np.float64)
            means.append((chosen @ values) / (chosen @ sizes))
    else:
        random = stream(seed, "acceptance")
        height = max(1, DRAWN_AT_ONCE // count)
        for first in range(0, FLIPS, height):
            chosen = random.integers(0, 2, (min(height, FLIPS - first), count)).astype(np.float64)
            whole = chosen @ sizes
            means.append(np.where(whole > 0, (chosen @ values) / np.maximum(whole, ROUNDING), -np.inf))
    return np.sort(np.concatenate(means))
