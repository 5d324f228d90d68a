"""What an upstream error does: the same questions after the right and after a wrong earlier answer (`carry`)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.comparing.signflip import sign_flip
from wardround.measuring.engine.encode import OUTCOMES, Coded, coded, is_empty
from wardround.measuring.engine.exact import exact
from wardround.measuring.engine.grouped import NOTHING, Found, by_stage_and_all, grouped, in_stage_order
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.measures.formulas import ratio

CARRIED = ("gold", "own", "wrong", "none")
EFFECTS: dict[str, Any] = {
    "candidate": pl.String,
    "stage": pl.String,  # empty: all stages that have an earlier one
    **dict.fromkeys(CARRIED, pl.Float64),  # accuracy with that carried, on the questions asked with gold and wrong
    "effect": pl.Float64,  # gold - wrong
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "lost": pl.Float64,  # gold - own: what the candidate's own errors cost it
    "lost_low": pl.Float64,
    "lost_high": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
    "method": pl.String,
}
_DIFFERENCE = Measure(name="difference", value=ratio, sums=("part", "items"), kind=Kind.SIGNED, n="items")


def upstream_effects(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Accuracy after right less accuracy after wrong earlier answers, paired, by candidate and stage.

    Only questions that are given others, in the same trial and under otherwise the same condition. Unparsed is wrong;
    what is unscored is left out. p is by sign flips over clusters, adjusted for all stages and candidates.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=EFFECTS)
    numbers = coded(marks, study)
    given = numbers.subjects.filter(pl.col("given").list.len() > 0)
    stages = in_stage_order(given["stage"])
    rows: list[dict[str, Any]] = []
    flipped: list[np.ndarray[Any, Any]] = []
    for number, name in enumerate(numbers.candidates):
        told = _side_by_side(numbers, number, given)
        pairs = told.drop_nulls(["gold", "wrong"])
        if pairs.is_empty():
            continue
        effect = _differences(pairs, "wrong", stages, numbers, study.seed)
        lost = _differences(told.drop_nulls(["gold", "own"]), "own", stages, numbers, study.seed)
        for place, stage in enumerate(["", *stages]):
            if place not in effect:
                continue
            own = pairs if not stage else pairs.filter(stage=stage)
            found, cost = effect[place], lost.get(place, NOTHING)
            flipped.append(_by_cluster(own, numbers.size))
            rows.append(
                {
                    "candidate": name,
                    "stage": stage,
                    **{value: own[value].mean() for value in CARRIED},
                    "effect": found.value,
                    "low": found.low,
                    "high": found.high,
                    "lost": cost.value,
                    "lost_low": cost.low,
                    "lost_high": cost.high,
                    "n": found.n,
                    "clusters": found.clusters,
                    "method": found.method,
                }
            )
    if not rows:
        return pl.DataFrame(schema=EFFECTS)
    tested = sign_flip(np.column_stack(flipped), study.seed)
    for place, row in enumerate(rows):
        row |= {"p": float(tested.p[place]), "p_adjusted": float(tested.p_adjusted[place])}
    return pl.DataFrame(rows, schema=EFFECTS)


def _side_by_side(numbers: Coded, candidate: int, given: pl.DataFrame) -> pl.DataFrame:
    """Each question in each trial, and whether it was right with each thing carried."""
    others = [json.dumps({**axes, "carry": ""}, sort_keys=True) for axes in numbers.conditions]
    known = pl.DataFrame(
        {
            "condition": pl.Series(range(len(others)), dtype=pl.UInt32),
            "carry": [axes["carry"] for axes in numbers.conditions],
            "other": others,
        }
    )
    right = (pl.col("outcome") == OUTCOMES.index("right")).cast(pl.Float64)
    return (
        numbers.of(candidate, candidate)
        .filter(pl.col("outcome") != OUTCOMES.index("unscored"), ~pl.col("open"))
        .join(given.select("subject", "stage"), on="subject")
        .join(known, on="condition")
        .sort("other", "subject", "trial")
        .group_by("other", "cluster", "subject", "stage", "trial", maintain_order=True)
        .agg(right.filter(pl.col("carry") == value).first().alias(value) for value in CARRIED)
    )


def _differences(pairs: pl.DataFrame, less: str, stages: list[str], numbers: Coded, seed: int) -> dict[int, Found]:
    item, group = by_stage_and_all(pairs["stage"], stages)
    part = (pairs["gold"] - pairs[less]).to_numpy()[item]
    return grouped(_DIFFERENCE, pairs["cluster"].gather(item), group, {"part": part}, numbers.size, seed)


def _by_cluster(pairs: pl.DataFrame, clusters: int) -> np.ndarray[Any, Any]:
    change = exact((pairs["gold"] - pairs["wrong"]).to_numpy())
    return np.bincount(pairs["cluster"].to_numpy(), weights=change, minlength=clusters)
