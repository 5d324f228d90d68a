"""Which interval a measure gets (docs/statistics.md, Intervals)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.sums import ClusterSums, Integers
from wardround.measuring.engine.wilson import effective_n, student, wilson
from wardround.measuring.measures.formulas import ratio

FEW, FEWEST = 30, 8  # clusters
EXTREME = 10  # a rate with fewer than this, or all but fewer than this
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"
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
    value = np.where(clusters > 0, measure.formula(*(sums.cell_total(name) for name in measure.sums)), np.nan)
    unparsed, refused = (
        ratio(*(sums.cell_total(f"{name}_{measure.group}") for name in names))
        for names in (("unparsed", "scored"), ("refused", "scorable"))
    )
    method = _methods(measure.kind, value, n, clusters)
    low, high = np.full((2, sums.cells), np.nan)
    chosen = np.isin(method, [WILSON, STUDENT])
    if chosen.any():
        low[chosen], high[chosen] = _from_variance(measure, sums, value, n, clusters, chosen)
    n_answers, n_clusters = (np.rint(count).astype(np.int64) for count in (n, clusters))
    return CellEstimates(measure, value, n_answers, n_clusters, unparsed, refused, low, high, method)


def _from_variance(
    measure: Measure, sums: ClusterSums, value: Floats, n: Floats, clusters: Floats, chosen: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Wilson or Student in the cells `chosen`, from the variance between clusters."""
    if measure.kind is MeasureKind.COMPOSITE:
        return student(value[chosen], clusters[chosen], jackknife(measure, sums, clusters)[chosen], measure.bounds)
    part, whole = (sums.row(name) for name in measure.sums[:2])
    residual = part - sums.spread(np.nan_to_num(value)) * whole
    variance = (
        clusters[chosen]
        / (clusters[chosen] - 1)
        * sums.total(residual**2)[chosen]
        / sums.cell_total(measure.sums[1])[chosen] ** 2
    )
    if measure.kind is MeasureKind.SIGNED:
        return student(value[chosen], clusters[chosen], variance, (-1.0, 1.0))
    return wilson(value[chosen], effective_n(value[chosen], n[chosen], clusters[chosen], variance))


def rate_interval(part: Floats, whole: Floats) -> tuple[str | None, float | None, float | None]:
    """The method for one rate, by the same rules, and its interval if that is Wilson's; from its sums in clusters."""
    n, clusters = np.array([whole.sum()]), np.array([float(np.count_nonzero(whole))])
    value = ratio(np.array([part.sum()]), n)
    (method,) = _methods(MeasureKind.RATE, value, n, clusters)
    if method != WILSON:
        return method, None, None
    variance = clusters / (clusters - 1) * ((part - value * whole) ** 2).sum() / n**2
    low, high = wilson(value, effective_n(value, n, clusters, variance))
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


def _methods(kind: MeasureKind, value: Floats, n: Floats, clusters: Floats) -> NDArray[np.object_]:
    count = np.round(np.nan_to_num(value) * n, 6)  # ten of thirty must not become 9.999...
    extreme = (kind is MeasureKind.RATE) & ((count < EXTREME) | (count > n - EXTREME))
    chosen = np.full(len(value), BOOTSTRAP, dtype=object)
    chosen[extreme] = WILSON
    chosen[clusters < FEW] = STUDENT if kind in (MeasureKind.SIGNED, MeasureKind.COMPOSITE) else WILSON
    if kind is MeasureKind.CONDITION:
        chosen[:] = SHARE_OF_RESAMPLES
    chosen[clusters < FEWEST] = TOO_FEW
    if kind is MeasureKind.REFERENCE:
        chosen[:] = NO_INTERVAL
    chosen[np.isnan(value)] = None
    return chosen
