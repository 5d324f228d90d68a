"""Right answers and questions by candidate, severity and cluster: what ranks and doses are resampled from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.reporting.run_files import RunFolder

Values = NDArray[np.float64]
RESAMPLES = 2_000
SCORED = ("right", "wrong", "unparsed")


class Scores(NamedTuple):
    """`right` and `asked` are candidates x severities x clusters."""

    candidates: list[str]
    severities: list[str]
    right: Values
    asked: Values

    def accuracy(self, weights: Values) -> Values:
        """Accuracy with so many copies of each cluster (... x clusters): ... x candidates x severities."""
        right, asked = (np.tensordot(weights, sums, axes=(-1, -1)) for sums in (self.right, self.asked))
        return np.divide(right, asked, out=np.full(right.shape, np.nan), where=asked > 0)


def scores(run: RunFolder, severities: list[str]) -> Scores:
    """Choice answers of every candidate at these severities."""
    found = (
        run.marks.filter(
            pl.col("severity").is_in(severities), pl.col("outcome").is_in(SCORED), pl.col("kind") == "choice"
        )
        .group_by("candidate", "severity", "cluster")
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .sort("candidate", "severity", "cluster")
        .collect()
    )
    candidates = [name for name in run.candidates if name in set(found["candidate"])]
    clusters = sorted(set(found["cluster"]))
    shape = len(candidates), len(severities), len(clusters)
    sums: dict[str, Values] = {name: np.zeros(shape) for name in ("right", "asked")}
    places: Any = tuple(
        found[key].replace_strict({name: place for place, name in enumerate(names)}, return_dtype=pl.Int64).to_numpy()
        for key, names in (("candidate", candidates), ("severity", severities), ("cluster", clusters))
    )
    for name, into in sums.items():
        into[places] = found[name].to_numpy()
    return Scores(candidates, severities, sums["right"], sums["asked"])


def halves(clusters: int, random: np.random.Generator) -> tuple[Values, Values]:
    """All clusters in two halves that share none (1 or 0 for each)."""
    first = np.zeros(clusters)
    first[random.permutation(clusters)[: (clusters + 1) // 2]] = 1.0
    return first, 1.0 - first


def redrawn(half: Values, random: np.random.Generator) -> Values:
    """How often each cluster of a half comes up when as many are drawn from it again."""
    there = np.flatnonzero(half)
    return np.bincount(random.choice(there, len(there)), minlength=len(half)).astype(float)


def interval(values: Values) -> tuple[float | None, float | None]:
    """The middle 95% of resampled values; none where they cannot be had."""
    kept = values[~np.isnan(values)]
    if len(kept) < len(values) / 2:
        return None, None
    low, high = np.quantile(kept, (0.025, 0.975))
    return float(low), float(high)
