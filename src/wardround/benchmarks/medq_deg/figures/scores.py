"""Right answers and questions by candidate, severity and cluster, for resampling ranks and doses."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.reporting.run_files import RunFiles

Values = NDArray[np.float64]
RESAMPLES = 2_000
SPLITS = 200  # of the resampled halves, those that estimates are averaged over


class Scores(NamedTuple):
    """`right` and `asked` are candidates x severities x clusters."""

    candidates: list[str]
    severities: list[str]
    right: Values
    asked: Values

    def accuracy(self, weights: Values) -> Values:
        """Accuracy with weighted clusters (... x clusters): ... x candidates x severities."""
        right, asked = (np.tensordot(weights, sums, axes=(-1, -1)) for sums in (self.right, self.asked))
        return np.asarray(np.divide(right, asked, out=np.full(right.shape, np.nan), where=asked > 0))


def scores(run: RunFiles, severities: list[str]) -> Scores:
    """The scores of choice answers at these severities."""
    counts = (
        run.marks.filter(
            pl.col("severity").is_in(severities),
            pl.col("outcome").is_in(run.study.scored_outcomes),
            pl.col("kind") == "choice",
        )
        .group_by("candidate", "severity", "cluster")
        .agg(asked=pl.len(), right=(pl.col("outcome") == "right").sum())
        .sort("candidate", "severity", "cluster")
        .collect()
    )
    candidates = [name for name in run.candidates if name in set(counts["candidate"])]
    clusters = sorted(set(counts["cluster"]))
    shape = len(candidates), len(severities), len(clusters)
    sums: dict[str, Values] = {name: np.zeros(shape) for name in ("right", "asked")}
    indices: Any = tuple(
        counts[key].replace_strict({name: index for index, name in enumerate(names)}, return_dtype=pl.Int64).to_numpy()
        for key, names in (("candidate", candidates), ("severity", severities), ("cluster", clusters))
    )
    for name, array in sums.items():
        array[indices] = counts[name].to_numpy()
    return Scores(candidates, severities, sums["right"], sums["asked"])


def resampled_halves(clusters: int, random: np.random.Generator) -> Iterator[tuple[Values, Values]]:
    """Two disjoint halves of the clusters (2 x clusters: 1 or 0), and how often each cluster is drawn from its half."""
    for _ in range(RESAMPLES):
        first = np.zeros(clusters)
        first[random.permutation(clusters)[: (clusters + 1) // 2]] = 1.0
        halves = np.array([first, 1.0 - first])
        draws = (random.choice(members, len(members)) for members in map(np.flatnonzero, halves))
        yield halves, np.array([np.bincount(drawn, minlength=clusters) for drawn in draws], dtype=np.float64)


def interval(values: Values) -> tuple[float | None, float | None]:
    """The middle 95% of resampled values; None if most of them are undefined."""
    known = values[~np.isnan(values)]
    if len(known) < len(values) / 2:
        return None, None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)
