"""Self-consistency: whether a candidate chooses the same option again when asked again."""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import coded, is_empty
from wardround.measuring.engine.grouped import by_stage_and_all, grouped, in_stage_order
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.measures.formulas import ratio

CONSISTENCY: dict[str, Any] = {
    "candidate": pl.String,
    "stage": pl.String,  # empty: all questions
    "share": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,  # questions
    "clusters": pl.Int64,
    "method": pl.String,
}
_SHARE = Measure(name="share", value=ratio, sums=("part", "items"), kind=Kind.MEAN, n="items")


def self_consistency(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The share of pairs of trials with the same option, by candidate and stage; questions weigh alike.

    A trial that could not be read agrees with no other. In a chain later stages may differ because earlier ones did.
    """
    if is_empty(marks) or study.trials < 2:
        return pl.DataFrame(schema=CONSISTENCY)
    numbers = coded(marks, study)
    stages = in_stage_order(numbers.subjects["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(numbers.candidates):
        told = numbers.of(number, number).filter(~pl.col("open"))
        trials = told.group_by("cluster", "condition", "subject").agg(trials=pl.len()).filter(pl.col("trials") > 1)
        same = (
            told.drop_nulls("option")
            .group_by("condition", "subject", "option")
            .agg(votes=pl.len())
            .group_by("condition", "subject")
            .agg(agreeing=(pl.col("votes") * (pl.col("votes") - 1)).sum())
        )
        pairs = pl.col("trials") * (pl.col("trials") - 1)
        asked = (
            trials.join(same, on=("condition", "subject"), how="left")
            .join(numbers.subjects.select("subject", "stage"), on="subject")
            .sort("condition", "subject")
            .with_columns(share=pl.col("agreeing").fill_null(0) / pairs)
        )
        item, group = by_stage_and_all(asked["stage"], stages)
        share = asked["share"].to_numpy()[item]
        found = grouped(_SHARE, asked["cluster"].gather(item), group, {"part": share}, numbers.size, study.seed)
        for place, stage in enumerate(["", *stages]):
            if place in found:
                each = found[place]
                rows.append(
                    {
                        "candidate": name,
                        "stage": stage,
                        "share": each.value,
                        "low": each.low,
                        "high": each.high,
                        "n": each.n,
                        "clusters": each.clusters,
                        "method": each.method,
                    }
                )
    return pl.DataFrame(rows, schema=CONSISTENCY)
