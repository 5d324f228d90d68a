"""The interval of ECE. Noise alone makes ECE larger than 0, so a bootstrap of it does not cover a truth near 0.

All noise is between clusters: the sum of confidence minus right over a bin adds up one term per cluster, whatever the
number of trials and questions behind it. If hardly a cluster has a wrong claim, or a right one, the gaps that were seen
say little of the noise: twenty right answers stated at .9 do not vary at all. Then the noise of a calibrated candidate
with the same confidences is added, of whose clusters each is right or wrong as a whole.
"""

from math import pi

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import ClusterSums
from wardround.measuring.engine.wilson import ClusterMoments, rate_interval_of, student_quantile
from wardround.measuring.measures.formulas import debiased_sum, ratio

GAP, COUNT, NOISE = "gap:", "in:", "noise:"  # prefixes of the sums over one bin; `gap` is confidence minus right


def calibration_intervals(measure: Measure, sums: ClusterSums, right: ClusterMoments) -> tuple[Floats, Floats]:
    """The interval of the true ECE; its lower end is 0 if chance alone can explain the observed one.

    Chance reaches m + t s, with the mean and the standard deviation of sum_b |N(0, V_b)|, V_b = sum over clusters of
    the squared gap. Above it the lower end is the larger of ECE - (m + t s), which no truth can make too high in
    more than 2.5%, and the debiased ECE - t standard errors. The upper end is ECE + t standard errors of the gaps,
    each with the sign of its bin: it is never too low, since ECE is not below their sum with the true signs.

    `right` are the right claims by cluster. If they are rare or wrong ones are, V_b is at least the sum over clusters
    of n_b sum c (1 - c), and both ends also reach what the mean gap would be at both ends of the share right.
    """
    bins = [name.removeprefix(GAP) for name in measure.sums if name.startswith(GAP)]
    gaps, counts, noises = (np.stack([sums.row(f"{part}{bin}") for bin in bins]) for part in (GAP, COUNT, NOISE))
    claims, whole = sums.row(measure.n), sums.cell_total(measure.n)
    clusters = sums.clusters(measure.cluster_sum)
    gap, variance = (
        np.stack(totals) for totals in zip(*((sums.total(g), sums.total(g**2)) for g in gaps), strict=True)
    )
    plug_in = np.abs(gap).sum(axis=0)
    signed = np.zeros_like(claims)
    for sign, own in zip(np.where(gap < 0, -1.0, 1.0), gaps, strict=True):
        signed += sums.spread(sign) * own
    residual = signed - sums.spread(np.nan_to_num(ratio(plug_in, whole))) * claims
    error = np.sqrt(clusters / np.maximum(clusters - 1, 1) * sums.total(residual**2))
    t = student_quantile(np.maximum(clusters - 1, 1))
    least, most = _mean_gaps(gap.sum(axis=0), whole, right)
    variance = np.where(right.is_extreme, np.maximum(variance, sums.total(exact(counts * noises))), variance)
    # the bins of a cluster may err together
    together = np.maximum(variance.sum(axis=0), sums.total(signed**2))
    chance = np.sqrt(2 / pi * variance).sum(axis=0) + t * np.sqrt((1 - 2 / pi) * together)
    debiased = debiased_sum(gap, variance)
    opposed = plug_in - np.abs(gap.sum(axis=0))  # what gaps of both signs add to that of the mean
    low = np.maximum(plug_in - chance, np.minimum(debiased - t * error, opposed + least))
    low = np.where(plug_in > chance, np.maximum(low, 0.0), 0.0)
    ends = (ratio(end, whole) for end in (low, np.maximum(plug_in + t * error, opposed + most)))
    lower, upper = (np.clip(end, *measure.bounds) for end in ends)
    return lower, upper


def _mean_gaps(gap: Floats, whole: Floats, right: ClusterMoments) -> tuple[Floats, Floats]:
    """The least and the largest size of the sum of gaps over the interval of the share right, where that is extreme."""
    fewest, most = rate_interval_of(right, right.whole)
    reach = np.where(right.is_extreme, [right.share - most, right.share - fewest], 0.0) * whole
    lowest, highest = gap + reach
    least = np.where((lowest <= 0) & (highest >= 0), 0.0, np.minimum(np.abs(lowest), np.abs(highest)))
    return least, np.maximum(np.abs(lowest), np.abs(highest))
