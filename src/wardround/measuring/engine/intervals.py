"""Which interval a measure gets (docs/statistics.md, Intervals)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.sums import ClusterSums, Integers
from wardround.measuring.engine.wilson import ClusterMoments, mean_interval, rate_interval_of, student
from wardround.measuring.measures.auroc_interval import auroc_intervals, is_separated_by_few
from wardround.measuring.measures.calibration_error import calibration_intervals
from wardround.measuring.measures.formulas import ratio

FEW, FEWEST = 30, 8  # clusters
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"
SCORE = "score"  # of AUROC
CALIBRATION, UPPER_BOUND = "calibration", "upper bound"  # of ECE: two-sided, or no miscalibration shown up to `high`
SHARE_OF_RESAMPLES = "share of resamples"
NO_INTERVAL = "no interval"


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


def estimate_cells(measure: Measure, sums: ClusterSums) -> CellEstimates:
    """Values, and all intervals but those by resampling, which `Resampling` fills in."""
    n, clusters = sums.cell_total(measure.n), sums.clusters(measure.cluster_sum)
    totals = [*(sums.cell_total(name) for name in measure.sums), *(sums.product(*pair) for pair in measure.products)]
    value = np.where(clusters > 0, measure.formula(*totals), np.nan)
    unparsed, refused = (
        ratio(*(sums.cell_total(f"{name}_{measure.group}") for name in names))
        for names in (("unparsed", "scored"), ("refused", "scorable"))
    )
    moments = _moments(measure, sums) if measure.kind.is_mean else None
    method = _methods(measure.kind, value, clusters, _is_extreme(measure, sums, moments))
    low, high = np.full((2, sums.cells), np.nan)
    for name in (WILSON, STUDENT, SCORE, CALIBRATION):
        if (chosen := method == name).any():
            low[chosen], high[chosen] = _interval(measure, sums, moments, value, n, chosen)
    method[(method == CALIBRATION) & (low <= 0)] = UPPER_BOUND
    n_answers, n_clusters = (np.rint(count).astype(np.int64) for count in (n, clusters))
    return CellEstimates(measure, value, n_answers, n_clusters, unparsed, refused, low, high, method)


def _moments(measure: Measure, sums: ClusterSums) -> ClusterMoments:
    return ClusterMoments.of(sums.row(measure.sums[0]), sums.row(measure.sums[1]), sums.total)


def _is_extreme(measure: Measure, sums: ClusterSums, moments: ClusterMoments | None) -> NDArray[np.bool_]:
    """Whether a cell has too few clusters of one kind for resampling: a rate or mean near 0 or 1, or an AUROC."""
    if measure.kind is MeasureKind.AUROC:
        return is_separated_by_few(measure, sums)
    if moments is None or measure.kind is MeasureKind.SIGNED:
        return np.zeros(sums.cells, bool)
    return moments.is_extreme


def _interval(
    measure: Measure,
    sums: ClusterSums,
    moments: ClusterMoments | None,
    value: Floats,
    n: Floats,
    chosen: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """The interval in the cells `chosen`, from what differs between clusters."""
    clusters = sums.clusters(measure.cluster_sum)
    if measure.kind is MeasureKind.AUROC:
        low, high = auroc_intervals(measure, sums)
        return low[chosen], high[chosen]
    if measure.kind is MeasureKind.CALIBRATION:
        low, high = calibration_intervals(measure, sums)
        return low[chosen], high[chosen]
    if moments is None:
        return student(value[chosen], clusters[chosen], jackknife(measure, sums, clusters)[chosen], measure.bounds)
    own = moments.at(chosen)
    if measure.kind is MeasureKind.SIGNED:
        return student(value[chosen], clusters[chosen], own.variance, (-1.0, 1.0))
    if measure.kind is MeasureKind.RATE:
        return rate_interval_of(own, n[chosen])
    return mean_interval(value[chosen], own.variance, clusters[chosen])


def rate_interval(part: Floats, whole: Floats) -> tuple[str | None, float | None, float | None]:
    """The method for one rate, by the same rules, and its interval if that is Wilson's; from its sums in clusters."""
    moments = ClusterMoments.of(part, whole, lambda values: values.sum(axis=-1, keepdims=True))
    value = ratio(moments.part, moments.whole)
    (method,) = _methods(MeasureKind.RATE, value, moments.clusters, moments.is_extreme)
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
    residual = np.where(contributes, values - sums.spread(np.nan_to_num(ratio(sums.total(values), count))), 0.0)
    return np.maximum(clusters - 1, 0) * np.nan_to_num(ratio(sums.total(residual**2), count))


def _methods(kind: MeasureKind, value: Floats, clusters: Floats, is_extreme: NDArray[np.bool_]) -> NDArray[np.object_]:
    chosen = np.full(len(value), BOOTSTRAP, dtype=object)
    of_few = {MeasureKind.RATE: WILSON, MeasureKind.MEAN: WILSON, MeasureKind.AUROC: SCORE}
    chosen[is_extreme | (clusters < FEW)] = of_few.get(kind, STUDENT)
    if kind is MeasureKind.CALIBRATION:
        chosen[:] = CALIBRATION
    if kind is MeasureKind.CONDITION:
        chosen[:] = SHARE_OF_RESAMPLES
    chosen[clusters < FEWEST] = TOO_FEW
    if kind is MeasureKind.REFERENCE:
        chosen[:] = NO_INTERVAL
    chosen[np.isnan(value)] = None
    return chosen
