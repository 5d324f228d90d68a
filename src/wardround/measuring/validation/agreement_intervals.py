"""Agreement between two who judged the same items, with intervals that resample cases.

Sums are of the four cells of the table: both say same, only the reference does, only the judge does, neither does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]  # (..., columns) -> (...)

CELLS = ("both", "reference_only", "judge_only", "neither")
RESAMPLES = 2_000
FEW, FEWEST, EXTREME = 30, 8, 10  # clusters, clusters, a count (specs/statistics.md, Intervals)
Z = 1.959963984540054


def cells(items: pl.DataFrame, clusters: Sequence[str]) -> Floats:
    """The four cells of the table in each of these clusters, by weight (clusters x 4)."""
    number = {cluster: place for place, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 4))
    for cluster, same, label, weight in items.select("cluster", "same", "label", "weight").iter_rows():
        sums[number[cluster], (0 if same else 1) if label else (2 if same else 3)] += weight
    return sums


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where the whole is nothing."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    found: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
    return found


def kappa(cells: Floats) -> Floats:
    """Cohen's kappa; nan where agreement by chance would be complete."""
    both, missed, added, neither = np.moveaxis(np.asarray(cells, float), -1, 0)
    n = both + missed + added + neither
    observed = ratio(both + neither, n)
    chance = ratio((both + missed) * (both + added) + (neither + missed) * (neither + added), n * n)
    return ratio(observed - chance, np.where(chance < 1, 1 - chance, 0.0))


def agreement(cells: Floats) -> Floats:
    """The share of items on which both say the same."""
    return ratio(cells[..., 0] + cells[..., 3], cells.sum(axis=-1))


def sensitivity(cells: Floats) -> Floats:
    """Of what the reference calls the same, the share that the judge does."""
    return ratio(cells[..., 0], cells[..., 0] + cells[..., 1])


def specificity(cells: Floats) -> Floats:
    """Of what the reference does not call the same, the share that the judge does not."""
    return ratio(cells[..., 3], cells[..., 3] + cells[..., 2])


def resampled(sums: Floats, seed: int) -> Floats:
    """The totals of clusters drawn with replacement (resamples x columns)."""
    random = np.random.Generator(np.random.PCG64(seed))
    clusters = len(sums)
    drawn = random.multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES)
    return drawn.astype(float) @ sums


def figure(value: Statistic, sums: Floats, seed: int) -> dict[str, Any]:
    """A statistic of cluster sums with its percentile interval."""
    clusters = int(np.count_nonzero(sums.any(axis=1)))
    found = float(value(sums.sum(axis=0)))
    told = {"value": finite(found), "low": None, "high": None, "clusters": clusters, "method": "bootstrap"}
    if clusters < FEWEST or np.isnan(found):
        return told | {"method": "too few cases" if clusters < FEWEST else None}
    values = value(resampled(sums, seed))
    if not np.isnan(values).all():
        low, high = np.nanquantile(values, [0.025, 0.975])
        told |= {"low": float(low), "high": float(high)}
    return told


def rate(part: Floats, whole: Floats, seed: int) -> dict[str, Any]:
    """A share of cluster sums; Wilson on the effective n where it is extreme or the clusters are few."""
    n, count, clusters = float(whole.sum()), float(part.sum()), int(np.count_nonzero(whole))
    told = figure(lambda sums: ratio(sums[..., 0], sums[..., 1]), np.stack([part, whole], axis=1), seed) | {"n": n}
    extreme = count < EXTREME or count > n - EXTREME or clusters < FEW
    if told["value"] is None or clusters < FEWEST or not extreme:
        return told
    share = count / n
    binomial = share * (1 - share)
    variance = clusters / (clusters - 1) * float(np.sum((part - share * whole) ** 2)) / n**2
    alike = binomial <= 0 or variance <= 0
    effective = min(clusters, n) if alike else n / max(1.0, variance * (n - 1) / binomial)
    low, high = wilson(share, effective)
    return told | {"low": low, "high": high, "method": "wilson"}


def wilson(share: float, n: float) -> tuple[float, float]:
    """The score interval of a share of n."""
    middle, scale = share + Z * Z / (2 * n), 1 + Z * Z / n
    reach = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5
    return max(0.0, min(share, (middle - reach) / scale)), min(1.0, max(share, (middle + reach) / scale))


def finite(value: float) -> float | None:
    return None if np.isnan(value) else value
