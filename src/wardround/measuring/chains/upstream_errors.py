"""Upstream errors: is a stage wrong more often after a wrong one? An association, not an effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import OUTCOMES, Coded, coded, is_empty
from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.grouped import in_stage_order
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import cluster_sums, placed
from wardround.measuring.measures.formulas import ratio

UPSTREAM: dict[str, Any] = {
    "candidate": pl.String,
    "stage": pl.String,  # empty: all stages that have an earlier one
    "after_wrong": pl.Float64,  # share wrong where an earlier stage was wrong
    "after_right": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "n_after_wrong": pl.Int64,
    "clusters": pl.Int64,
    "method": pl.String,
}
SUMS = ("wrong_after_wrong", "after_wrong", "wrong_after_right", "after_right")


def upstream_errors(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """P(wrong | an earlier stage wrong) - P(wrong | all earlier stages right), by candidate and stage.

    Earlier are the questions that `given` names, in the same trial, where candidates saw their own answers
    (`carry = own`). Unparsed is wrong; whatever is unscored or unanswered is left out.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=UPSTREAM)
    numbers = coded(marks, study)
    links = _links(numbers)
    if links.is_empty():
        return pl.DataFrame(schema=UPSTREAM)
    stages = in_stage_order(links["stage"])
    rows = [
        row
        for number, name in enumerate(numbers.candidates)
        for row in _of_candidate(name, _steps(numbers, number, links), stages, numbers.size, study.seed)
    ]
    return pl.DataFrame(rows, schema=UPSTREAM).with_columns(pl.col(pl.Float64).fill_nan(None))


def _links(numbers: Coded) -> pl.DataFrame:
    """Each question that is given others, with one of them a row."""
    there = numbers.subjects.select("case", given="question", parent="subject")
    named = numbers.subjects.select("subject", "case", "stage", "given").explode("given").drop_nulls("given")
    return named.join(there, on=("case", "given"), how="left").select("subject", "stage", "parent")


def _steps(numbers: Coded, candidate: int, links: pl.DataFrame) -> pl.DataFrame:
    """Each answer to a question that is given others: whether it is wrong, and whether one of them is."""
    own = [number for number, axes in enumerate(numbers.conditions) if axes["carry"] == "own"]
    told = numbers.of(candidate, candidate).filter(pl.col("condition").is_in(own))
    told = told.select("candidate", "cluster", "condition", "subject", "trial", "outcome")
    earlier = told.select("condition", "trial", parent="subject", before="outcome")
    right, unscored = OUTCOMES.index("right"), OUTCOMES.index("unscored")
    return (
        told.filter(pl.col("outcome") != unscored)
        .join(links, on="subject")
        .join(earlier, on=("condition", "trial", "parent"), how="left")
        .group_by("candidate", "cluster", "condition", "subject", "trial", "stage", maintain_order=True)
        .agg(
            (pl.col("outcome").first() != right).alias("wrong"),
            (pl.col("before") != right).any().alias("after_wrong"),
            (pl.col("before").is_null() | (pl.col("before") == unscored)).any().alias("unknown"),
        )
        .filter(~pl.col("unknown"))
    )


def _of_candidate(name: str, steps: pl.DataFrame, stages: list[str], clusters: int, seed: int) -> list[dict[str, Any]]:
    """All stages together, then each of them."""
    if steps.is_empty():
        return []
    number = steps["stage"].replace_strict({stage: n for n, stage in enumerate(stages, 1)}, default=0)
    inside = np.flatnonzero(number.to_numpy() > 0)
    item = np.concatenate([np.arange(len(steps)), inside])
    slice = np.concatenate([np.zeros(len(steps), np.int64), number.cast(pl.Int64).to_numpy()[inside]])
    at = placed(steps.select("candidate", "cluster"), item, slice)
    wrong, after = (steps[column].to_numpy() for column in ("wrong", "after_wrong"))
    ones = np.ones(len(steps))
    counts = (each.astype(float) for each in (wrong & after, after, wrong & ~after, ~after))
    columns = dict(zip(SUMS, counts, strict=True)) | {"steps": ones, "unparsed_asked": 0 * ones, "scored_asked": ones}
    sums = cluster_sums(at, columns)
    measure = Measure(name="upstream", value=_difference, sums=SUMS, kind=Kind.COMPOSITE, n="steps", range=(-1.0, 1.0))
    (found,) = figured([measure], sums, clusters, seed)
    shares = {
        "after_wrong": ratio(*map(sums.cell_total, SUMS[:2])),
        "after_right": ratio(*map(sums.cell_total, SUMS[2:])),
    }
    return [
        {
            "candidate": name,
            "stage": ["", *stages][stage],
            **{which: float(share[cell]) for which, share in shares.items()},
            "difference": float(found.value[cell]),
            "low": float(found.low[cell]),
            "high": float(found.high[cell]),
            "n": int(found.n[cell]),
            "n_after_wrong": int(sums.cell_total("after_wrong")[cell]),
            "clusters": int(found.clusters[cell]),
            "method": found.method[cell],
        }
        for cell, stage in enumerate(sums.slice.tolist())
    ]


def _difference(
    wrong_after_wrong: Floats, after_wrong: Floats, wrong_after_right: Floats, after_right: Floats
) -> Floats:
    return ratio(wrong_after_wrong, after_wrong) - ratio(wrong_after_right, after_right)
