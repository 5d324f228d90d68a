"""Which interval a measure gets (docs/statistics.md, Intervals)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.sums import ClusterSums, Integers
from wardround.measuring.engine.wilson import (
    ClusterMoments,
    mean_interval,
    rate_interval_of,
    student,
    student_of_log_odds,
)
from wardround.measuring.measures.auroc_interval import auroc_intervals
from wardround.measuring.measures.calibration_error import calibration_intervals
from wardround.measuring.measures.formulas import ratio

FEW, FEWEST = 30, 8  # clusters; FEW of equal size
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"
SCORE = "score"  # of AUROC
LOGIT = "student of log odds"  # of areas
CALIBRATION, UPPER_BOUND = "calibration", "upper bound"  # of ECE: two-sided, or no miscalibration shown up to `high`
SHARE_OF_RESAMPLES = "share of resamples"
NO_INTERVAL = "no interval"
ALIKE = 2.0**-24  # an interval of less width says that all clusters are alike, not that the figure is known


@dataclass
class CellEstimates:
    """One measure in every cell of a slicing. Cells without a value or interval have nan."""

    measure: Measure
    value: Floats
    n: Integers
    clusters: Integers
    unparsed: Floats
    refused: Floats
    low: Floats
    high: Floats
    method: NDArray[np.object_]


class ClaimShare(NamedTuple):
    """The share of right claims of each cell, by cluster, and their mean confidence.

    Eight claims at .9 that are all right have hardly any variance, but their calibration shift is known no better than
    their share of errors, whose interval allows for errors that have not been seen yet.
    """

    right: ClusterMoments
    confidence: Floats

    def at(self, cells: NDArray[np.bool_]) -> "ClaimShare":
        """Those of some cells."""
        return ClaimShare(self.right.at(cells), self.confidence[cells])

    def widened(self, value: Floats, low: Floats, high: Floats, is_signed: bool) -> tuple[Floats, Floats]:
        """An interval that also holds what the figure would be at both ends of the share right, if that is extreme.

        A wrong claim instead of a right one adds 1 to confidence minus right, and 2 c - 1 to the squared gap of a
        claim at c, for which the mean confidence stands.
        """
        share = self.right.share
        fewest, most = np.where(self.right.is_extreme, rate_interval_of(self.right, self.right.whole), share)
        added = np.ones_like(value) if is_signed else 2 * self.confidence - 1
        ends = value + added * (share - fewest), value + added * (share - most)
        lowest, highest = (-1.0, 1.0) if is_signed else (0.0, 1.0)
        return np.clip(np.minimum(low, np.minimum(*ends)), lowest, highest), np.clip(
            np.maximum(high, np.maximum(*ends)), lowest, highest
        )


def estimate_cells(measure: Measure, sums: ClusterSums) -> CellEstimates:
    """Values, and all intervals but those by resampling, which `Resampling` fills in."""
    n, clusters = sums.cell_total(measure.n), sums.clusters(measure.cluster_sum)
    totals = [*(sums.cell_total(name) for name in measure.sums), *(sums.product(*pair) for pair in measure.products)]
    value = np.where(clusters > 0, measure.formula(*totals), np.nan)
    unparsed, refused = (
        ratio(*(sums.cell_total(f"{name}_{measure.group}") for name in names))
        for names in (("unparsed", "scored"), ("refused", "scorable"))
    )
    moments = _moments(*_shares(measure, sums), sums) if measure.kind.is_mean_of_values else None
    worth = sums.effective_clusters(measure.cluster_sum)
    claims = _claim_share(measure, sums)
    method = _methods(measure.kind, value, clusters, (worth < FEW) | _is_extreme(measure, moments, claims))
    low, high = np.full((2, sums.cells), np.nan)
    for name in (WILSON, STUDENT, SCORE, LOGIT, CALIBRATION):
        if (chosen := method == name).any():
            low[chosen], high[chosen] = _interval(measure, sums, moments, claims, value, n, chosen)
    without_spread(((method == STUDENT) | (method == LOGIT)) & (high - low < ALIKE), low, high, method)
    method[(method == CALIBRATION) & (low <= 0)] = UPPER_BOUND
    n_answers, n_clusters = (np.rint(count).astype(np.int64) for count in (n, clusters))
    return CellEstimates(measure, value, n_answers, n_clusters, unparsed, refused, low, high, method)


def _shares(measure: Measure, sums: ClusterSums) -> tuple[Floats, Floats]:
    """The sums of a mean; values between other bounds than 0 and 1 as shares of the way between them."""
    part, whole = (sums.row(name) for name in measure.sums[:2])
    if measure.kind is not MeasureKind.BOUNDED:
        return part, whole
    lowest, highest = measure.bounds
    return exact((part - lowest * whole) / (highest - lowest)), whole


def _moments(part: Floats, whole: Floats, sums: ClusterSums) -> ClusterMoments:
    if not uses_loops():
        return ClusterMoments.of(part, whole, sums.total)
    from wardround.measuring.engine.loops.sums import moments

    totals = np.empty((len(ClusterMoments._fields), sums.cells))
    moments(part, whole, sums.ends, totals)
    return ClusterMoments(*totals)


def without_spread(cells: NDArray[Any], low: Floats, high: Floats, method: NDArray[np.object_]) -> None:
    """Takes the interval from cells whose clusters are all alike: twelve right answers do not make a score certain."""
    low[cells] = high[cells] = np.nan
    method[cells] = NO_INTERVAL


def _is_extreme(
    measure: Measure, moments: ClusterMoments | None, claims: ClaimShare | None
) -> NDArray[np.bool_] | bool:
    """Whether a cell has too few clusters of one kind for resampling: a rate or mean near 0 or 1, or claims."""
    if claims:
        return claims.right.is_extreme
    if moments is None or measure.kind is MeasureKind.SIGNED:
        return False
    return moments.is_extreme | (moments.variance <= 0)


def _interval(
    measure: Measure,
    sums: ClusterSums,
    moments: ClusterMoments | None,
    claims: ClaimShare | None,
    value: Floats,
    n: Floats,
    chosen: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """The interval in the cells `chosen`, from what differs between clusters."""
    worth = sums.effective_clusters(measure.cluster_sum)
    if measure.kind is MeasureKind.AUROC:
        low, high = auroc_intervals(measure, sums)
        return low[chosen], high[chosen]
    if measure.kind is MeasureKind.CALIBRATION and claims:
        low, high = calibration_intervals(measure, sums, claims.right)
        return low[chosen], high[chosen]
    if moments is None:
        clusters = sums.clusters(measure.cluster_sum)
        of_figure = student_of_log_odds if measure.kind is MeasureKind.AREA else student
        return of_figure(value[chosen], worth[chosen], jackknife(measure, sums, clusters)[chosen], measure.bounds)
    own = moments.at(chosen)
    if measure.kind is MeasureKind.RATE:
        return rate_interval_of(own, n[chosen])
    if measure.kind is MeasureKind.BOUNDED:
        lowest, highest = measure.bounds
        ends = mean_interval(own.share, own.variance, worth[chosen])
        low, high = (lowest + (highest - lowest) * end for end in ends)
        return np.minimum(low, value[chosen]), np.maximum(high, value[chosen])
    is_signed = measure.kind is MeasureKind.SIGNED
    if is_signed:
        low, high = student(value[chosen], worth[chosen], own.variance, (-1.0, 1.0))
    else:
        low, high = mean_interval(value[chosen], own.variance, worth[chosen])
    return claims.at(chosen).widened(value[chosen], low, high, is_signed) if claims else (low, high)


def _claim_share(measure: Measure, sums: ClusterSums) -> ClaimShare | None:
    """The claims that a measure is about; None if it is about none, or the sums do not hold them."""
    if not measure.claims or any(name not in sums.place for name in measure.claims):
        return None
    confidence, shift, count = (sums.row(name) for name in measure.claims)
    right = np.clip(confidence - shift, 0.0, count)
    whole = sums.total(count)
    mean = np.divide(sums.total(confidence), whole, out=np.full(sums.cells, 0.5), where=whole > 0)
    return ClaimShare(_moments(right, count, sums), mean)


def rate_interval(part: Floats, whole: Floats) -> tuple[str | None, float | None, float | None]:
    """The method for one rate, by the same rules, and its interval if that is Wilson's; from its sums in clusters."""
    moments = ClusterMoments.of(part, whole, lambda values: values.sum(axis=-1, keepdims=True))
    value = ratio(moments.part, moments.whole)
    is_few = moments.is_extreme | (moments.effective_clusters < FEW)
    (method,) = _methods(MeasureKind.RATE, value, moments.clusters, is_few)
    if method != WILSON:
        return method, None, None
    low, high = rate_interval_of(moments, moments.whole)
    return method, float(low[0]), float(high[0])


def jackknife(measure: Measure, sums: ClusterSums, clusters: Floats) -> Floats:
    """Variance of any function of sums: how it changes when each cluster is left out in turn."""
    rows = [sums.row(name) for name in measure.sums]
    totals = (sums.spread(sums.cell_total(name)) for name in measure.sums)
    without = measure.formula(*(total - row for total, row in zip(totals, rows, strict=True)))
    contributes = (sums.row(measure.cluster_sum) > 0) & ~np.isnan(without)
    values = np.where(contributes, without, 0.0)
    count = sums.total(contributes.astype(np.float64))
    mean = np.nan_to_num(ratio(sums.total(exact(values)), count))
    # as large as figures are, so that their squares add up to the same in any order (exact.py)
    residual = np.where(contributes, (values - sums.spread(mean)) * sums.spread(count), 0.0)
    return np.maximum(clusters - 1, 0) * np.nan_to_num(ratio(sums.total(exact(residual**2)), count**3))


def _methods(kind: MeasureKind, value: Floats, clusters: Floats, is_few: NDArray[np.bool_]) -> NDArray[np.object_]:
    chosen = np.full(len(value), BOOTSTRAP, dtype=object)
    of_few = dict.fromkeys((MeasureKind.RATE, MeasureKind.MEAN, MeasureKind.BOUNDED), WILSON)
    chosen[is_few] = of_few.get(kind, STUDENT)
    if kind is MeasureKind.AUROC:
        chosen[:] = SCORE
    if kind is MeasureKind.AREA:
        chosen[:] = LOGIT
    if kind is MeasureKind.CALIBRATION:
        chosen[:] = CALIBRATION
    if kind is MeasureKind.CONDITION:
        chosen[:] = SHARE_OF_RESAMPLES
    chosen[clusters < FEWEST] = TOO_FEW
    if kind is MeasureKind.REFERENCE:
        chosen[:] = NO_INTERVAL
    chosen[np.isnan(value)] = None
    return chosen
