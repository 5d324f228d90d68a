"""Figures of one candidate by group, each with the interval that every figure has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import NATURAL_ORDER
from wardround.measuring.engine.sums import Whole, cluster_sums, placed


class Found(NamedTuple):
    """One figure; what it does not have is None."""

    n: int
    value: float | None
    low: float | None
    high: float | None
    clusters: int = 0
    method: str = ""


NOTHING = Found(0, None, None, None)


def grouped(
    measure: Measure, cluster: pl.Series, group: Whole, columns: Mapping[str, Floats], clusters: int, seed: int
) -> dict[int, Found]:
    """A measure over items of one candidate, in every group that has any; the study has so many clusters."""
    if not len(cluster):
        return {}
    index = pl.DataFrame({"candidate": np.zeros(len(cluster), np.int64), "cluster": cluster})
    ones = np.ones(len(cluster))
    held = {name: exact(values) for name, values in columns.items()}
    at = placed(index, np.arange(len(cluster)), group)
    sums = cluster_sums(at, held | {"items": ones, "scored_asked": ones, "unparsed_asked": 0 * ones})
    (found,) = figured([measure], sums, clusters, seed)
    return {
        int(number): Found(
            int(found.n[cell]),
            _known(found.value[cell]),
            _known(found.low[cell]),
            _known(found.high[cell]),
            int(found.clusters[cell]),
            found.method[cell],
        )
        for cell, number in enumerate(sums.slice.tolist())
    }


def in_stage_order(stages: pl.Series) -> list[str]:
    """X-PCR's stages first, in their order, then others by name."""
    known = NATURAL_ORDER["stage"]
    there = stages.drop_nulls().unique().to_list()
    return sorted(there, key=lambda stage: (known.index(stage) if stage in known else len(known), stage))


def by_stage_and_all(stage: pl.Series, stages: list[str]) -> tuple[Whole, Whole]:
    """Items, each in the group of its stage (from 1) and in that of all (0): which item, and which group."""
    number = stage.replace_strict({name: n for n, name in enumerate(stages, 1)}, default=0, return_dtype=pl.Int64)
    groups = number.to_numpy()
    inside = np.flatnonzero(groups > 0)
    item = np.concatenate([np.arange(len(groups)), inside])
    return item, np.concatenate([np.zeros(len(groups), np.int64), groups[inside]])


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
