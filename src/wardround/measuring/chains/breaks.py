"""Where chains break: the first stage that is not right, and the states of a chain after it."""

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import OUTCOMES, EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.estimate import NO_ESTIMATE, Estimate, estimate_by_group, in_stage_order
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

# Stage is empty for chains that did not break. Share is of all chains, hazard of the `reached`: right up to here.
BROKEN = table_schema(
    *("candidate", "stage", "share", "low", "high"),
    *("reached", "hazard", "hazard_low", "hazard_high", "n", "clusters"),
)
FLOW = table_schema("candidate", "stage", "before", "state", "chains")  # before: the state at the stage before
INTACT, RIGHT_AGAIN, WRONG = "intact", "right after a break", "wrong"
CHAIN = ("cluster", "condition", "case", "chain", "trial")
_SHARE = Measure(name="share", formula=ratio, sums=("part", "items"), kind=MeasureKind.RATE, n="items")


def stages_of_chains(encoded: EncodedMarks, candidate: int) -> pl.DataFrame:
    """Each stage of each chain, with the candidate's own answers carried: whether all its questions are right.

    A chain with an unscored or missing answer is left out. Unparsed is wrong, and refused unless the study leaves it
    out.
    """
    chains = encoded.subjects.drop_nulls(["chain", "stage"]).select("subject", "case", "chain", "stage")
    lengths = chains.group_by("case", "chain").agg(questions=pl.len())
    answers = (
        encoded.marks_of(candidate)
        .filter(encoded.has_value("carry", "own"))
        .select("cluster", "condition", "subject", "trial", "outcome")
        .join(chains, on="subject")
    )
    complete = (
        answers.group_by(*CHAIN)
        .agg(answered=pl.len(), unscored=(pl.col("outcome") == OUTCOMES.index("unscored")).any())
        .join(lengths, on=("case", "chain"))
        .filter(pl.col("answered") == pl.col("questions"), ~pl.col("unscored"))
    )
    return (
        answers.join(complete.select(CHAIN), on=CHAIN, how="semi")
        .group_by(*CHAIN, "stage")
        .agg(right=(pl.col("outcome") == OUTCOMES.index("right")).all())
    )


def chains_by_stage(encoded: EncodedMarks, candidate: int, stages: list[str]) -> pl.DataFrame:
    """One row per chain, one column per stage: whether it is right; null if the chain lacks the stage."""
    wide = (
        stages_of_chains(encoded, candidate)
        .group_by(*CHAIN)
        .agg(pl.col("right").filter(pl.col("stage") == stage).first().alias(stage) for stage in stages)
    )
    return wide.sort(CHAIN)


def first_broken(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """By candidate and stage: the share of chains that break there first, and of the chains that reach it."""
    if is_empty(marks):
        return pl.DataFrame(schema=BROKEN)
    encoded = encode_marks(marks, study)
    stages = in_stage_order(encoded.subjects.drop_nulls("chain")["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(encoded.candidates):
        chains = chains_by_stage(encoded, number, stages)
        if chains.is_empty():
            continue
        intact = pl.Series(np.ones(len(chains), bool))
        for stage in [*stages, ""]:
            broke = intact if not stage else intact & ~chains[stage].fill_null(True)
            reached = intact & chains[stage].is_not_null() if stage else intact
            share = _share(chains, pl.Series(np.ones(len(chains), bool)), broke, encoded.cluster_count, study.seed)
            hazard = _share(chains, reached, broke, encoded.cluster_count, study.seed) if stage else NO_ESTIMATE
            rows.append(
                {
                    "candidate": name,
                    "stage": stage,
                    **share._asdict(),
                    "share": share.value,
                    "reached": int(reached.sum()),
                    "hazard": hazard.value,
                    "hazard_low": hazard.low,
                    "hazard_high": hazard.high,
                }
            )
            intact = intact & ~broke
    return pl.DataFrame(rows, schema=BROKEN)


def chain_flow(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Counts of states from stage to stage: intact, wrong, or right after a break. Only chains with all stages."""
    if is_empty(marks):
        return pl.DataFrame(schema=FLOW)
    encoded = encode_marks(marks, study)
    stages = in_stage_order(encoded.subjects.drop_nulls("chain")["stage"])
    tables = [pl.DataFrame(schema=FLOW)]
    for number, name in enumerate(encoded.candidates):
        chains = chains_by_stage(encoded, number, stages).drop_nulls(stages)
        intact = pl.Series(np.ones(len(chains), bool))
        before = pl.Series([""] * len(chains), dtype=pl.String)
        for stage in stages:
            intact = intact & chains[stage]
            states = pl.DataFrame({"intact": intact, "right": chains[stage], "before": before}).with_columns(
                state=pl.when("intact")
                .then(pl.lit(INTACT))
                .when("right")
                .then(pl.lit(RIGHT_AGAIN))
                .otherwise(pl.lit(WRONG))
            )
            counted = states.group_by("before", "state").agg(chains=pl.len().cast(pl.Int64)).sort("before", "state")
            tables.append(counted.select(pl.lit(name).alias("candidate"), pl.lit(stage).alias("stage"), pl.all()))
            before = states["state"]
    return pl.concat(tables)


def _share(chains: pl.DataFrame, among: pl.Series, part: pl.Series, clusters: int, seed: int) -> Estimate:
    chosen = chains.filter(among)
    group = np.zeros(len(chosen), np.int64)
    columns = {"part": part.filter(among).cast(pl.Float64).to_numpy()}
    return estimate_by_group(_SHARE, chosen["cluster"], group, columns, clusters, seed).get(0, NO_ESTIMATE)
