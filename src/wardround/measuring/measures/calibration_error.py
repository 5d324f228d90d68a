"""The interval of ECE. Noise alone makes ECE larger than 0, so a bootstrap of it does not cover a truth near 0.

All noise is between clusters: the sum of confidence minus right over a bin adds up one term per cluster, whatever the
number of trials and questions behind it.
"""

from math import pi

import numpy as np

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import ClusterSums
from wardround.measuring.engine.wilson import student_quantile
from wardround.measuring.measures.formulas import debiased_sum, ratio

GAP = "gap:"  # prefix of the sums over one bin of confidence minus right


def calibration_intervals(measure: Measure, sums: ClusterSums) -> tuple[Floats, Floats]:
    """The interval of the true ECE; its lower end is 0 if chance alone can explain the observed one.

    Chance reaches m + t s, with the mean and the standard deviation of sum_b |N(0, V_b)|, V_b = sum over clusters of
    the squared gap. Above it the lower end is the larger of ECE - (m + t s), which no truth can make too high in
    more than 2.5%, and the debiased ECE - t standard errors. The upper end is ECE + t standard errors of the gaps,
    each with the sign of its bin: it is never too low, since ECE is not below their sum with the true signs.
    """
    gaps = np.stack([sums.row(name) for name in measure.sums if name.startswith(GAP)])
    claims, whole = sums.row(measure.n), sums.cell_total(measure.n)
    clusters = sums.clusters(measure.cluster_sum)
    gap, variance = sums.total(gaps), sums.total(gaps**2)
    plug_in = np.abs(gap).sum(axis=0)
    signed = (sums.spread(np.where(gap < 0, -1.0, 1.0)) * gaps).sum(axis=0)
    residual = signed - sums.spread(np.nan_to_num(ratio(plug_in, whole))) * claims
    error = np.sqrt(clusters / np.maximum(clusters - 1, 1) * sums.total(residual**2))
    t = student_quantile(np.maximum(clusters - 1, 1))
    # the bins of a cluster may err together
    together = np.maximum(variance.sum(axis=0), sums.total(signed**2))
    chance = np.sqrt(2 / pi * variance).sum(axis=0) + t * np.sqrt((1 - 2 / pi) * together)
    debiased = debiased_sum(gap, variance)
    low = np.where(plug_in > chance, np.maximum(plug_in - chance, debiased - t * error), 0.0)
    ends = (ratio(end, whole) for end in (np.maximum(low, 0.0), plug_in + t * error))
    lower, upper = (np.clip(end, *measure.bounds) for end in ends)
    return lower, upper
