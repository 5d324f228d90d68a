"""Where chains break: the first stage that is not right, and what becomes of a chain after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import OUTCOMES, Coded, coded, is_empty
from wardround.measuring.engine.grouped import NOTHING, grouped, in_stage_order
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.measures.formulas import ratio

BROKEN: dict[str, Any] = {
    "candidate": pl.String,
    "stage": pl.String,  # empty: chains that never broke
    "share": pl.Float64,  # of all chains, those that broke first here
    "low": pl.Float64,
    "high": pl.Float64,
    "reached": pl.Int64,  # chains that were right up to here
    "hazard": pl.Float64,  # of these, those that broke here
    "hazard_low": pl.Float64,
    "hazard_high": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
}
FLOW: dict[str, Any] = {
    "candidate": pl.String,
    "stage": pl.String,
    "before": pl.String,  # the state at the stage before; empty at the first
    "state": pl.String,
    "chains": pl.Int64,
}
INTACT, RIGHT_AGAIN, WRONG = "intact", "right after a break", "wrong"
CHAIN = ("cluster", "condition", "case", "chain", "trial")
_SHARE = Measure(name="share", value=ratio, sums=("part", "items"), kind=Kind.RATE, n="items")


def stages_of_chains(numbers: Coded, candidate: int) -> pl.DataFrame:
    """Each stage of each chain, under the candidate's own answers: whether all its questions are right.

    A chain with an unscored answer, or without one to some of its questions, is left out. Unparsed is wrong.
    """
    chains = numbers.subjects.drop_nulls(["chain", "stage"]).select("subject", "case", "chain", "stage")
    lengths = chains.group_by("case", "chain").agg(questions=pl.len())
    own = [number for number, axes in enumerate(numbers.conditions) if axes["carry"] == "own"]
    told = (
        numbers.of(candidate, candidate)
        .filter(pl.col("condition").is_in(own))
        .select("cluster", "condition", "subject", "trial", "outcome")
        .join(chains, on="subject")
    )
    whole = (
        told.group_by(*CHAIN)
        .agg(answered=pl.len(), unscored=(pl.col("outcome") == OUTCOMES.index("unscored")).any())
        .join(lengths, on=("case", "chain"))
        .filter(pl.col("answered") == pl.col("questions"), ~pl.col("unscored"))
    )
    return (
        told.join(whole.select(CHAIN), on=CHAIN, how="semi")
        .group_by(*CHAIN, "stage")
        .agg(right=(pl.col("outcome") == OUTCOMES.index("right")).all())
    )


def chains_by_stage(numbers: Coded, candidate: int, stages: list[str]) -> pl.DataFrame:
    """One row a chain: under the name of each stage whether it is right, null where the chain lacks it."""
    told = stages_of_chains(numbers, candidate)
    wide = told.group_by(*CHAIN).agg(
        pl.col("right").filter(pl.col("stage") == stage).first().alias(stage) for stage in stages
    )
    return wide.sort(CHAIN)


def first_broken(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """By candidate and stage: the share of chains that break there first, and of those that get so far."""
    if is_empty(marks):
        return pl.DataFrame(schema=BROKEN)
    numbers = coded(marks, study)
    stages = in_stage_order(numbers.subjects.drop_nulls("chain")["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(numbers.candidates):
        chains = chains_by_stage(numbers, number, stages)
        if chains.is_empty():
            continue
        intact = pl.Series(np.ones(len(chains), bool))
        for stage in [*stages, ""]:
            broke = intact if not stage else intact & ~chains[stage].fill_null(True)
            reached = intact & chains[stage].is_not_null() if stage else intact
            share = _share(chains, pl.Series(np.ones(len(chains), bool)), broke, numbers.size, study.seed)
            hazard = _share(chains, reached, broke, numbers.size, study.seed) if stage else NOTHING
            rows.append(
                {
                    "candidate": name,
                    "stage": stage,
                    "share": share.value,
                    "low": share.low,
                    "high": share.high,
                    "reached": int(reached.sum()),
                    "hazard": hazard.value,
                    "hazard_low": hazard.low,
                    "hazard_high": hazard.high,
                    "n": len(chains),
                    "clusters": share.clusters,
                }
            )
            intact = intact & ~broke
    return pl.DataFrame(rows, schema=BROKEN)


def chain_flow(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """How chains go from stage to stage: intact, wrong, or right again after a break. Chains with all stages only."""
    if is_empty(marks):
        return pl.DataFrame(schema=FLOW)
    numbers = coded(marks, study)
    stages = in_stage_order(numbers.subjects.drop_nulls("chain")["stage"])
    tables = [pl.DataFrame(schema=FLOW)]
    for number, name in enumerate(numbers.candidates):
        chains = chains_by_stage(numbers, number, stages).drop_nulls(stages)
        intact = pl.Series(np.ones(len(chains), bool))
        before = pl.Series([""] * len(chains), dtype=pl.String)
        for stage in stages:
            intact = intact & chains[stage]
            told = pl.DataFrame({"intact": intact, "right": chains[stage], "before": before}).with_columns(
                state=pl.when("intact")
                .then(pl.lit(INTACT))
                .when("right")
                .then(pl.lit(RIGHT_AGAIN))
                .otherwise(pl.lit(WRONG))
            )
            counted = told.group_by("before", "state").agg(chains=pl.len().cast(pl.Int64)).sort("before", "state")
            tables.append(counted.select(pl.lit(name).alias("candidate"), pl.lit(stage).alias("stage"), pl.all()))
            before = told["state"]
    return pl.concat(tables)


def _share(chains: pl.DataFrame, among: pl.Series, part: pl.Series, clusters: int, seed: int) -> Any:
    held = chains.filter(among)
    group = np.zeros(len(held), np.int64)
    found = grouped(
        _SHARE, held["cluster"], group, {"part": part.filter(among).cast(pl.Float64).to_numpy()}, clusters, seed
    )
    return found.get(0, NOTHING)
