"""Figures with all their intervals, from cluster sums."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.measuring.engine.bootstrap import Part
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import Figures, figures
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.resampling import Resampling
from wardround.measuring.engine.sums import ClusterSums, Whole


class Nobody:
    """Wants no resampled values."""

    def wants(self, measure: Measure, slicing: int) -> bool:
        return False

    def take(self, figures: Figures, slicing: int, cells: Whole, drawn: Floats, part: Part, sums: list[Whole]) -> None:
        """Is given none, since it wants none."""


def figured(measures: Sequence[Measure], sums: ClusterSums, clusters: int, seed: int) -> list[Figures]:
    """Some measures in every cell of the sums; the study has so many clusters."""
    found = [figures(measure, sums) for measure in measures]
    resampling = Resampling(clusters, seed, Nobody())
    resampling.add(found, sums, 0)
    resampling.finish()
    return found
