"""Estimates: measures with all their intervals, from cluster sums or from items by group."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.intervals import CellEstimates, estimate_cells
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.resampling.estimates import Resampling
from wardround.measuring.engine.slices import in_order
from wardround.measuring.engine.sums import ClusterSums, Integers, cluster_sums, place_items


class Estimate(NamedTuple):
    """One value with its interval; what is missing is None."""

    n: int
    value: float | None
    low: float | None
    high: float | None
    clusters: int = 0
    method: str = ""


NO_ESTIMATE = Estimate(0, None, None, None)


def all_answered(ones: Floats) -> dict[str, Floats]:
    """The sums behind the unparsed and refused rates of items that were all answered."""
    nothing = 0 * ones
    return {"scored_asked": ones, "scorable_asked": ones, "unparsed_asked": nothing, "refused_asked": nothing}


def estimate_measures(measures: Sequence[Measure], sums: ClusterSums, clusters: int, seed: int) -> list[CellEstimates]:
    """The measures in every cell of the sums; `clusters` is the number of clusters of the study."""
    estimates = [estimate_cells(measure, sums) for measure in measures]
    resampling = Resampling(clusters, seed)
    resampling.add(estimates, sums, 0)
    resampling.finish()
    return estimates


def estimate_by_group(
    measure: Measure, cluster: pl.Series, group: Integers, columns: Mapping[str, Floats], clusters: int, seed: int
) -> dict[int, Estimate]:
    """A measure over items of one candidate, in every group that has any; `clusters` is that of the study."""
    if not len(cluster):
        return {}
    index = pl.DataFrame({"candidate": np.zeros(len(cluster), np.int64), "cluster": cluster})
    ones = np.ones(len(cluster))
    exact_columns = {name: exact(values) for name, values in columns.items()}
    placement = place_items(index, np.arange(len(cluster)), group)
    sums = cluster_sums(placement, exact_columns | {"items": ones} | all_answered(ones))
    (estimates,) = estimate_measures([measure], sums, clusters, seed)
    return {
        int(number): Estimate(
            int(estimates.n[cell]),
            _known(estimates.value[cell]),
            _known(estimates.low[cell]),
            _known(estimates.high[cell]),
            int(estimates.clusters[cell]),
            estimates.method[cell],
        )
        for cell, number in enumerate(sums.slice.tolist())
    }


def estimate_by_stage(
    measure: Measure, items: pl.DataFrame, columns: Mapping[str, Floats], stages: list[str], clusters: int, seed: int
) -> dict[str, Estimate]:
    """A measure over all items of one candidate (stage "") and over those of each stage that has any."""
    names = ["", *stages]
    stage = items["stage"].replace_strict(names, range(len(names)), default=0, return_dtype=pl.Int64).to_numpy()
    inside = np.flatnonzero(stage)
    item = np.concatenate([np.arange(len(items)), inside])
    group = np.concatenate([np.zeros_like(stage), stage[inside]])
    repeated = {name: values[item] for name, values in columns.items()}
    estimates = estimate_by_group(measure, items["cluster"].gather(item), group, repeated, clusters, seed)
    return {names[number]: estimate for number, estimate in estimates.items()}


def in_stage_order(stages: pl.Series) -> list[str]:
    """X-PCR's stages first, in their order, then others by name."""
    return in_order("stage", stages.drop_nulls().unique())


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
