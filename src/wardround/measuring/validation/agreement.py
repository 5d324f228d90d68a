"""Agreement between readers or judges: Cohen's kappa, Krippendorff's alpha, and intervals that resample cases.

The four cells of a yes/no table stand in the order of CELLS: both say yes, only the reference, only the judge, neither.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import BOOTSTRAP, FEWEST, TOO_FEW, WILSON, rate_interval
from wardround.measuring.measures.formulas import ratio

Statistic = Callable[[Floats], Floats]  # (..., columns) or (..., classes, classes) -> (...)
CELLS = ("both", "reference_only", "judge_only", "neither")
RESAMPLES = 2_000


def cohen_kappa(tables: Floats) -> Floats:
    """kappa = (p_o - p_e) / (1 - p_e) (Cohen 1960) of tables (..., classes, classes).

    nan if both always say the same one class. Multiplied by n squared, so that counts stay exact.
    """
    n = tables.sum(axis=(-2, -1))
    chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    observed = np.trace(tables, axis1=-2, axis2=-1) * n
    beyond_chance = n * n - chance
    undefined = np.full(np.shape(n), np.nan)
    kappa: Floats = np.divide(observed - chance, beyond_chance, out=undefined, where=beyond_chance > 1e-9)
    return kappa


def yes_no_kappa(both: Floats, only_a: Floats, only_b: Floats, neither: Floats) -> Floats:
    """Cohen's kappa of yes/no verdicts, from the four cells."""
    return cohen_kappa(np.stack([np.stack([both, only_a], axis=-1), np.stack([only_b, neither], axis=-1)], axis=-2))


def krippendorff_alpha(coincidences: Floats) -> Floats:
    """Krippendorff's alpha of unordered classes, from coincidences (..., classes, classes).

    An item with m labels adds 1 / (m - 1) for each ordered pair of them. nan if all labels are of one class.
    """
    n = coincidences.sum(axis=(-2, -1))
    disagreement = n - np.trace(coincidences, axis1=-2, axis2=-1)
    by_chance = n * n - (coincidences.sum(axis=-1) ** 2).sum(axis=-1)
    undefined = np.full(np.shape(n), np.nan)
    alpha: Floats = 1 - (n - 1) * np.divide(disagreement, by_chance, out=undefined, where=by_chance > 1e-9)
    return alpha


def confusion_cells(items: pl.DataFrame, clusters: Sequence[str]) -> Floats:
    """The four cells in each of these clusters, by weight (clusters x 4)."""
    number = {cluster: place for place, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 4))
    for cluster, same, label, weight in items.select("cluster", "same", "label", "weight").iter_rows():
        sums[number[cluster], (0 if same else 1) if label else (2 if same else 3)] += weight
    return sums


def kappa(cells: Floats) -> Floats:
    """Cohen's kappa of cells (..., 4)."""
    return yes_no_kappa(*np.moveaxis(cells, -1, 0))


def agreement(cells: Floats) -> Floats:
    """The share of items on which both say the same."""
    return ratio(cells[..., 0] + cells[..., 3], cells.sum(axis=-1))


def sensitivity(cells: Floats) -> Floats:
    """The judge's share of yes among the items that the reference calls yes."""
    return ratio(cells[..., 0], cells[..., 0] + cells[..., 1])


def specificity(cells: Floats) -> Floats:
    """The judge's share of no among the items that the reference calls no."""
    return ratio(cells[..., 3], cells[..., 3] + cells[..., 2])


def resampled(tables: Floats, seed: int) -> Floats:
    """The totals of clusters drawn with replacement (resamples x the shape of one table)."""
    random = np.random.Generator(np.random.PCG64(seed))
    clusters = len(tables)
    drawn = random.multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES)
    totals: Floats = (drawn.astype(float) @ tables.reshape(clusters, -1)).reshape(RESAMPLES, *tables.shape[1:])
    return totals


def bootstrap_interval(statistic: Statistic, tables: Floats, seed: int = 0) -> tuple[float, float | None, float | None]:
    """A statistic of the tables of clusters, with its percentile interval; none under 8 clusters that are not empty."""
    value = float(statistic(tables.sum(axis=0)))
    if _clusters(tables) < FEWEST or np.isnan(value):
        return value, None, None
    values = statistic(resampled(tables, seed))
    if np.isnan(values).all():
        return value, None, None
    low, high = np.nanquantile(values, [0.025, 0.975])
    return value, float(low), float(high)


def estimate_statistic(statistic: Statistic, tables: Floats, seed: int) -> dict[str, Any]:
    """A statistic with its interval, as judge.json has it."""
    value, low, high = bootstrap_interval(statistic, tables, seed)
    clusters = _clusters(tables)
    method = TOO_FEW if clusters < FEWEST else None if np.isnan(value) else BOOTSTRAP
    return {"value": finite(value), "low": low, "high": high, "clusters": clusters, "method": method}


def agreement_interval(
    statistic: Statistic, tables: Floats, seed: int = 0
) -> tuple[float, float | None, float | None, str | None]:
    """Cohen's kappa or Krippendorff's alpha of cluster tables, with an interval that small samples can carry.

    Where rates are not resampled (few clusters, or nearly none that disagree), resampling kappa is no better: 23 pairs
    without a disagreement would give 1.00 to 1.00. There the Wilson interval of observed agreement is put in the place
    of it, with agreement by chance as it was observed (our choice).
    """
    value, low, high = bootstrap_interval(statistic, tables, seed)
    if np.isnan(value):
        return value, None, None, None
    agreeing, whole = np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1))
    method, rate_low, rate_high = rate_interval(agreeing, whole)
    if method != WILSON or rate_low is None or rate_high is None:
        return value, low, high, TOO_FEW if low is None else BOOTSTRAP
    by_chance = _disagreement_by_chance(statistic, tables.sum(axis=0))
    return value, max(-1.0, 1 - (1 - rate_low) / by_chance), 1 - (1 - rate_high) / by_chance, WILSON


def _disagreement_by_chance(statistic: Statistic, table: Floats) -> float:
    """Expected disagreement d of a statistic: its value is 1 - (observed disagreement) / d."""
    n, rows, columns = float(table.sum()), table.sum(axis=1), table.sum(axis=0)
    if statistic is krippendorff_alpha:
        return float((n * n - (rows**2).sum()) / (n * (n - 1)))
    return float(1 - (rows * columns).sum() / (n * n))


def estimate_rate(part: Floats, whole: Floats, seed: int) -> dict[str, Any]:
    """A share of cluster sums; Wilson on the effective n if it is extreme or the clusters are few."""
    sums = np.stack([part, whole], axis=1)
    estimate = estimate_statistic(lambda sums: ratio(sums[..., 0], sums[..., 1]), sums, seed) | {
        "n": float(whole.sum())
    }
    method, low, high = rate_interval(part, whole)
    return estimate | {"low": low, "high": high, "method": method} if method == WILSON else estimate


def format_estimate(estimate: Mapping[str, Any]) -> str:
    """`0.83 (0.71 to 0.92)`, or `undefined`."""
    value = "undefined" if estimate["value"] is None else f"{estimate['value']:.2f}"
    return value + ("" if estimate["low"] is None else f" ({estimate['low']:.2f} to {estimate['high']:.2f})")


def finite(value: float) -> float | None:
    return None if np.isnan(value) else value


def _clusters(tables: Floats) -> int:
    return int(np.count_nonzero(tables.reshape(len(tables), -1).any(axis=1)))
