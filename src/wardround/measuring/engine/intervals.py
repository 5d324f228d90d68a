"""Which interval a figure gets (specs/statistics.md, Intervals)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.bootstrap import percentile_interval
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import ClusterSums, Whole
from wardround.measuring.engine.wilson import effective_n, student, wilson
from wardround.measuring.measures.formulas import ratio

FEW, FEWEST = 30, 8  # clusters
EXTREME = 10  # a rate with fewer than this, or all but fewer than this
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"
HOLDS = "share of resamples"
NO_INTERVAL = "no interval"


@dataclass
class Figures:
    """One measure in every cell of a slicing. Cells without a value or interval have nan."""

    measure: Measure
    value: Floats
    n: Whole
    clusters: Whole
    unparsed: Floats
    low: Floats
    high: Floats
    method: NDArray[np.object_]


def figures(measure: Measure, sums: ClusterSums) -> Figures:
    """Values, and all intervals but those by resampling, which `Resampling` fills in."""
    n, clusters = sums.cell_total(measure.n), sums.clusters(measure.counted)
    value = np.where(clusters > 0, measure.value(*(sums.cell_total(name) for name in measure.sums)), np.nan)
    unparsed, scored = (sums.cell_total(f"{name}_{measure.about}") for name in ("unparsed", "scored"))
    method = _methods(measure.kind, value, n, clusters)
    low, high = np.full((2, sums.cells), np.nan)
    at = np.isin(method, [WILSON, STUDENT])
    if at.any():
        low[at], high[at] = _from_variance(measure, sums, value, n, clusters, at)
    answers, many = (np.rint(count).astype(np.int64) for count in (n, clusters))
    return Figures(measure, value, answers, many, ratio(unparsed, scored), low, high, method)


def _from_variance(
    measure: Measure, sums: ClusterSums, value: Floats, n: Floats, clusters: Floats, at: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Wilson or Student in the cells `at`, from the variance between clusters."""
    if measure.kind is Kind.COMPOSITE:
        return student(value[at], clusters[at], jackknife(measure, sums, clusters)[at], measure.range)
    part, whole = (sums.row(name) for name in measure.sums[:2])
    residual = part - sums.spread(np.nan_to_num(value)) * whole
    variance = (
        clusters[at] / (clusters[at] - 1) * sums.total(residual**2)[at] / sums.cell_total(measure.sums[1])[at] ** 2
    )
    if measure.kind is Kind.SIGNED:
        return student(value[at], clusters[at], variance, (-1.0, 1.0))
    return wilson(value[at], effective_n(value[at], n[at], clusters[at], variance))


def rate_interval(part: Floats, whole: Floats, drawn: Floats) -> tuple[float | None, float | None]:
    """The interval of one rate, by the same rules: from its sums of every cluster, and its value in every resample."""
    n, clusters = np.array([whole.sum()]), np.array([float(len(whole))])
    value = ratio(np.array([part.sum()]), n)
    (method,) = _methods(Kind.RATE, value, n, clusters)
    if method == BOOTSTRAP:
        return percentile_interval(drawn)
    if method != WILSON:
        return None, None
    variance = clusters / (clusters - 1) * ((part - value * whole) ** 2).sum() / n**2
    low, high = wilson(value, effective_n(value, n, clusters, variance))
    return float(low[0]), float(high[0])


def jackknife(measure: Measure, sums: ClusterSums, clusters: Floats) -> Floats:
    """Variance of any function of sums: how it changes when each cluster is left out in turn."""
    rows = [sums.row(name) for name in measure.sums]
    totals = (sums.spread(sums.cell_total(name)) for name in measure.sums)
    without = measure.value(*(total - row for total, row in zip(totals, rows, strict=True)))
    there = (sums.row(measure.counted) > 0) & ~np.isnan(without)
    left = np.where(there, without, 0.0)
    many = sums.total(there.astype(np.float64))
    residual = np.where(there, left - sums.spread(np.nan_to_num(ratio(sums.total(left), many))), 0.0)
    return np.maximum(clusters - 1, 0) * np.nan_to_num(ratio(sums.total(residual**2), many))


def _methods(kind: Kind, value: Floats, n: Floats, clusters: Floats) -> NDArray[np.object_]:
    count = np.round(np.nan_to_num(value) * n, 6)  # ten of thirty must not become 9.999...
    extreme = (kind is Kind.RATE) & ((count < EXTREME) | (count > n - EXTREME))
    chosen = np.full(len(value), BOOTSTRAP, dtype=object)
    chosen[extreme] = WILSON
    chosen[clusters < FEW] = STUDENT if kind in (Kind.SIGNED, Kind.COMPOSITE) else WILSON
    if kind is Kind.CONDITION:
        chosen[:] = HOLDS
    chosen[clusters < FEWEST] = TOO_FEW
    if kind is Kind.REFERENCE:
        chosen[:] = NO_INTERVAL
    chosen[np.isnan(value)] = None
    return chosen
