"""Intervals for few cases and for rates near 0 or 1, from the variance between clusters."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.resampling.percentiles import LEVEL

UPPER = (1 + LEVEL) / 2
Z = 1.959963984540054  # the normal quantile of UPPER
# of the logarithm of Student's quantile of UPPER, in 4 / (freedom + 1) - 1: an interpolation of SciPy's, from which
# it differs by at most 4e-15 of its value
STUDENT = (
    *(1.3747883040884932, 0.8872594952476257, 0.2247567909230055, 0.046147760358429296),
    *(0.007783402488881174, 0.0011399951948024548, 0.00017205341942492586, 3.345341378377512e-05),
    *(7.514385257408753e-06, 1.4455407082682232e-06, 1.9911881389398659e-07, 1.8407288112235574e-08),
    *(2.2285065651191885e-09, 8.957035955194277e-10, 2.9355021107903435e-10, 5.279409795781894e-11),
    *(3.835293984379327e-12, -3.7322427405599633e-13, -3.6761000397864303e-14, 4.9332130547226434e-14),
    1.4746968521707117e-14,
)
EXTREME = 10  # a rate with fewer clusters than this that have an event, or that are without one
RARE = 3  # events
ROUNDING = 2.0**-26  # sums of squares of less, for each answer, are those of sums that are multiples of 2^-30
ADDED = 0.5  # clusters of each kind that are added to an extreme rate, to estimate how alike a cluster's answers are


class ClusterMoments(NamedTuple):
    """Sums over the clusters of each cell: of a numerator x, a denominator w, and their products."""

    part: Floats
    whole: Floats
    part_part: Floats
    part_whole: Floats
    whole_whole: Floats
    clusters: Floats
    with_event: Floats  # clusters with x > 0
    without_event: Floats  # clusters with x < w

    @classmethod
    def of(cls, part: Floats, whole: Floats, total: Callable[[Floats], Floats]) -> "ClusterMoments":
        """From the sums of each cluster; `total` adds up the clusters of a cell."""
        products = (exact(a * b) for a, b in ((part, part), (part, whole), (whole, whole)))
        counts = (flags.astype(np.float64) for flags in (whole > 0, part > 0, part < whole))
        return cls(*map(total, (part, whole, *products, *counts)))

    def at(self, cells: NDArray[np.bool_]) -> "ClusterMoments":
        """Those of some cells."""
        return ClusterMoments(*(values[cells] for values in self))

    @property
    def is_extreme(self) -> NDArray[np.bool_]:
        flags: NDArray[np.bool_] = np.minimum(self.with_event, self.without_event) < np.minimum(EXTREME, self.clusters)
        return flags

    @property
    def share(self) -> Floats:
        """x / w; no value in a cell without answers."""
        return _divided(self.part, self.whole)

    @property
    def effective_clusters(self) -> Floats:
        """The number of equal clusters that clusters of these sizes are worth (Kish); never more than there are."""
        return np.minimum(_divided(self.whole**2, self.whole_whole), self.clusters)

    def squares(self, share: Floats) -> Floats:
        """The sum of (x - share w)^2 over clusters."""
        squares: Floats = self.part_part - 2 * share * self.part_whole + share * share * self.whole_whole
        return np.maximum(squares, 0.0)

    @property
    def variance(self) -> Floats:
        """Of the ratio of sums x / w, by its linearisation; 0 if only rounding tells the clusters apart."""
        squares = self.squares(self.share)
        squares = np.where(squares > ROUNDING * self.whole, squares, 0.0)
        return _divided(_unbiased(self.effective_clusters) * squares, self.whole**2)


def rate_interval_of(moments: ClusterMoments, n: Floats) -> tuple[Floats, Floats]:
    """Wilson's interval of a rate at the number of independent answers that its clusters are worth.

    With at most three events, or three but all, the end next to 0 or 1 is Poisson's (Brown, Cai and DasGupta 2001):
    a single event of twelve does not exclude a rate of 1%.
    """
    share, n = moments.share, effective_n(moments, n)
    low, high = wilson(share, n)
    return np.minimum(low, _rare_end(share, n)), np.maximum(high, 1 - _rare_end(1 - share, n))


def _divided(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _rare_end(share: Floats, n: Floats) -> Floats:
    """The lower end of the rate of rare events; 1 if they are not rare."""
    events = share * n
    is_rare = (events > 0) & (events <= RARE)
    if not is_rare.any():
        return np.ones_like(share)
    return np.where(is_rare, scipy.special.gammaincinv(np.where(is_rare, events, 1.0), 1 - LEVEL) / n, 1.0)


def effective_n(moments: ClusterMoments, n: Floats) -> Floats:
    """n / deff, with deff = variance between clusters / (p (1 - p) / (n - 1)), at least 1.

    The variance is itself estimated from few clusters, so n / deff is multiplied by (t_(n-1) / t_(clusters-1))^2
    (Korn and Graubard 1998). Clusters of unequal size count as the number of equal ones that they are worth. If events
    are rare they say little of how alike the answers of a cluster are: then half a cluster with nothing but events and
    half a cluster without any are added first, so that with ever fewer events a cluster counts as one answer.
    """
    added, worth = np.where(moments.is_extreme, ADDED, 0.0), moments.effective_clusters
    size = moments.whole / worth
    whole, clusters = moments.whole + 2 * added * size, worth + 2 * added
    share = (moments.part + added * size) / whole
    squares = moments.squares(share) + added * size**2 * ((1 - share) ** 2 + share**2)
    variance, binomial = _unbiased(clusters) * squares / whole**2, share * (1 - share)
    ratio = np.divide(
        variance * (_divided(n * whole, moments.whole) - 1), binomial, out=np.ones_like(share), where=binomial > 0
    )
    few = np.where(moments.is_extreme, 1.0, (_t_of(n) / _t_of(worth)) ** 2)
    all_alike = (moments.part <= 0) | (moments.part >= moments.whole)
    return np.where(all_alike, np.minimum(worth, n), n / np.maximum(1.0, ratio) * np.minimum(few, 1.0))


def mean_interval(value: Floats, variance: Floats, clusters: Floats) -> tuple[Floats, Floats]:
    """Wilson's interval of a mean of values from 0 to 1, with Student's quantile.

    It is taken at the n whose binomial variance is that between clusters. If all clusters are alike there is no
    variance to estimate; then a cluster counts as one answer.
    """
    binomial = value * (1 - value)
    n = np.divide(binomial, variance, out=clusters.astype(np.float64), where=(variance > 0) & (binomial > 0))
    return wilson(value, n, _t_of(clusters))


def wilson(share: Floats, n: Floats, z: float | Floats = Z) -> tuple[Floats, Floats]:
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
    reach = _t_of(clusters) * np.sqrt(variance)
    return np.maximum(value - reach, bounds[0]), np.minimum(value + reach, bounds[1])


def student_of_log_odds(
    value: Floats, clusters: Floats, variance: Floats, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Student's interval of the log odds of a value from 0 to 1, as a value; its own at 0 and 1."""
    scale = value * (1 - value)
    is_inside = scale > 0
    reach = np.divide(_t_of(clusters) * np.sqrt(variance), scale, out=np.zeros_like(value), where=is_inside)
    odds = np.divide(value, 1 - value, out=np.zeros_like(value), where=is_inside)
    with np.errstate(over="ignore"):
        ends = (odds / (odds + np.exp(sign * reach)) for sign in (1.0, -1.0))
        low, high = (np.where(is_inside, np.clip(end, *bounds), value) for end in ends)
    return low, high


def student_quantile(freedom: Floats) -> Floats:
    """Student's quantile of UPPER with at least one degree of freedom, without SciPy.

    Nearly every study takes it, most take nothing else from `scipy.special`, and that takes 0.1 s to load.
    """
    quantile: Floats = np.exp(chebval(4 / (freedom + 1) - 1, STUDENT))
    return quantile


def _unbiased(clusters: Floats) -> Floats:
    """What makes a sum of squares around an estimated mean unbiased; 2 if one cluster is nearly all."""
    factor: Floats = np.minimum(clusters / np.maximum(clusters - 1, 1e-9), 2.0)
    return factor


def _t_of(clusters: Floats) -> Floats:
    """Student's quantile for a variance that so many clusters tell."""
    return student_quantile(np.maximum(clusters - 1, 1))
