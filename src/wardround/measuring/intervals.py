"""Which interval a figure gets (specs/statistics.md, Intervals)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.definitions import Kind, Measure, ratio
from wardround.measuring.exact import Floats
from wardround.measuring.sums import ClusterSums, Whole
from wardround.measuring.wilson import effective_n, student, wilson

FEW, FEWEST = 30, 8  # clusters
EXTREME = 10  # a rate with fewer than this, or all but fewer than this
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"


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
    value = measure.value(*(sums.total(sums.row(name)) for name in measure.sums))
    part, whole = (sums.row(name) for name in measure.sums[:2])
    n, clusters = sums.total(sums.row(measure.n)), sums.total((whole > 0).astype(np.float64))
    unparsed, scored = (sums.total(sums.row(f"{name}_{measure.about}")) for name in ("unparsed", "scored"))
    method = _methods(measure.kind, value, n, clusters)
    low, high = np.full((2, sums.cells), np.nan)
    residual = part - sums.spread(np.nan_to_num(value)) * whole
    at = np.isin(method, [WILSON, STUDENT])
    variance = clusters[at] / (clusters[at] - 1) * sums.total(residual**2)[at] / sums.total(whole)[at] ** 2
    if measure.kind is Kind.SIGNED:
        low[at], high[at] = student(value[at], clusters[at], variance)
    else:
        low[at], high[at] = wilson(value[at], effective_n(value[at], n[at], clusters[at], variance))
    answers, many = (np.rint(count).astype(np.int64) for count in (n, clusters))
    return Figures(measure, value, answers, many, ratio(unparsed, scored), low, high, method)


def _methods(kind: Kind, value: Floats, n: Floats, clusters: Floats) -> NDArray[np.object_]:
    count = np.round(np.nan_to_num(value) * n, 6)  # ten of thirty must not become 9.999...
    extreme = (kind is Kind.RATE) & ((count < EXTREME) | (count > n - EXTREME))
    chosen = np.full(len(value), BOOTSTRAP, dtype=object)
    chosen[extreme] = WILSON
    chosen[clusters < FEW] = STUDENT if kind is Kind.SIGNED else WILSON
    chosen[clusters < FEWEST] = TOO_FEW
    chosen[np.isnan(value)] = None
    return chosen
