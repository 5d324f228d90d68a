"""The interval of AUROC: a score interval on effective numbers.

Resampling ends at the AUROC itself if all right claims are above all wrong ones, and too low if nearly all are.
"""

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import ClusterSums
from wardround.measuring.engine.wilson import Z
from wardround.measuring.measures.formulas import ratio_or_zero

DOUBT = 5.0  # clusters' worth of weight for full dependence within clusters
STEPS = 50  # of bisection: the ends are exact to 2**-50


def auroc_intervals(measure: Measure, sums: ClusterSums) -> tuple[Floats, Floats]:
    """The AUROCs that the observed one does not contradict, with Hanley and McNeil's variance (Newcombe 2006).

    The numbers of right and wrong claims are those that clusters are worth if the claims of a cluster are all alike.
    How far they are alike is in the variance between clusters (Hajek's projection, as in DeLong's): its ratio to
    Hanley and McNeil's is trusted the more, the more clusters there are of the rarer kind. This weight is our choice.
    """
    above, right, below, wrong = (sums.row(name) for name in measure.sums)
    value = measure.formula(*(sums.cell_total(name) for name in measure.sums))
    value = np.nan_to_num(value, nan=0.5)
    n_right, n_wrong = (_effective_number(sums, row) for row in (right, wrong))
    centre = sums.spread(value / 2)  # `above` and `below` have half of the AUROC taken off
    per_right, per_wrong = (sums.spread(ratio_or_zero(np.ones(sums.cells), sums.total(row))) for row in (right, wrong))
    influence = (above - centre * right) * per_right + (below - centre * wrong) * per_wrong
    clusters = sums.clusters(measure.cluster_sum)
    between = clusters / np.maximum(clusters - 1, 1) * sums.total(influence**2)
    if_alike = _variance(value, n_right, n_wrong)
    ratio = np.divide(between, if_alike, out=np.ones_like(value), where=if_alike > 0)
    trust = np.minimum(n_right, n_wrong) / (np.minimum(n_right, n_wrong) + DOUBT)
    scale = trust * ratio + 1 - trust

    def contradicts(other: Floats) -> NDArray[np.bool_]:
        flags: NDArray[np.bool_] = (value - other) ** 2 > Z * Z * scale * _variance(other, n_right, n_wrong)
        return flags

    low, inside_low, inside_high, high = np.zeros_like(value), value.copy(), value.copy(), np.ones_like(value)
    for _ in range(STEPS):
        lower, upper = (low + inside_low) / 2, (high + inside_high) / 2
        low, inside_low = _halved(low, inside_low, lower, contradicts(lower))
        high, inside_high = _halved(high, inside_high, upper, contradicts(upper))
    return inside_low, inside_high


def _halved(outside: Floats, inside: Floats, middle: Floats, is_outside: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    return np.where(is_outside, middle, outside), np.where(is_outside, inside, middle)


def _effective_number(sums: ClusterSums, claims: Floats) -> Floats:
    """The number of clusters' worth of claims if those of a cluster are all alike (Kish)."""
    return np.maximum(ratio_or_zero(sums.total(claims) ** 2, sums.total(claims**2)), 1.0)


def _variance(auroc: Floats, right: Floats, wrong: Floats) -> Floats:
    """Hanley and McNeil's, with Newcombe's symmetric numbers."""
    number = (right + wrong) / 2 - 1
    spread = 1 + number * (1 - auroc) / (2 - auroc) + number * auroc / (1 + auroc)
    variance: Floats = auroc * (1 - auroc) / (right * wrong) * spread
    return variance
