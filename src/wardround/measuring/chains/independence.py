"""Complete chains beside what independent stages would give, and accuracy on chains beside that on all questions.

A rate of complete chains far from the product of the stages' accuracies says that errors gather in the same chains,
or that chains and stages were not the same questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.chains.breaks import CHAIN, chains_by_stage
from wardround.measuring.engine.encode import OUTCOMES, Coded, coded, is_empty
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.grouped import NOTHING, Found, grouped, in_stage_order
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.measures.formulas import ratio

INDEPENDENCE: dict[str, Any] = {
    "candidate": pl.String,
    "figure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
}
FOUND, EXPECTED, BEYOND, ON_ALL, ON_CHAINS = "found", "expected", "beyond", "swa on all", "swa on chains"
Pattern = tuple[int, ...]  # the numbers of the stages that a chain has


def chain_independence(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """By candidate: CCR as found, as expected of independent stages, their difference, and SWA on all and on chains.

    A stage of a chain is right if all its questions are; expected is the mean over chains of the product of their
    stages' shares right, taken anew in every resample.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=INDEPENDENCE)
    numbers = coded(marks, study)
    stages = in_stage_order(numbers.subjects["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(numbers.candidates):
        chains = chains_by_stage(numbers, number, stages)
        if chains.is_empty():
            continue
        told = _of_chains(chains, stages, numbers, study.seed)
        for figure, inside in ((ON_ALL, False), (ON_CHAINS, True)):
            told[figure] = _swa(_answers(numbers, number, chains if inside else None), stages, numbers, study.seed)
        rows += [
            {
                "candidate": name,
                "figure": figure,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "n": found.n,
                "clusters": found.clusters,
            }
            for figure, found in told.items()
        ]
    return pl.DataFrame(rows, schema=INDEPENDENCE)


def _of_chains(chains: pl.DataFrame, stages: list[str], numbers: Coded, seed: int) -> dict[str, Found]:
    there = np.column_stack([chains[stage].is_not_null().to_numpy() for stage in stages])
    right = np.column_stack([chains[stage].fill_null(False).to_numpy() for stage in stages])
    patterns = [tuple(map(int, np.flatnonzero(row))) for row in np.unique(there, axis=0)]
    own = [tuple(map(int, np.flatnonzero(row))) for row in there]
    complete = (right | ~there).all(axis=1).astype(float)
    columns: dict[str, Floats] = {"complete": complete}
    for place in range(len(stages)):
        columns |= {f"right:{place}": right[:, place].astype(float), f"of:{place}": there[:, place].astype(float)}
    for place, pattern in enumerate(patterns):
        columns[f"pattern:{place}"] = np.array([float(each == pattern) for each in own])
    names = tuple(name for name in columns if name != "complete")
    expected = _expected(len(stages), patterns)

    def beyond(complete: Floats, items: Floats, *sums: Floats) -> Floats:
        return ratio(complete, items) - expected(items, *sums)

    kinds: dict[str, Measure] = {
        FOUND: Measure(name="ccr", value=ratio, sums=("complete", "items"), kind=Kind.RATE, n="items"),
        EXPECTED: Measure(name="expected", value=expected, sums=("items", *names), kind=Kind.COMPOSITE, n="items"),
        BEYOND: Measure(
            name="beyond",
            value=beyond,
            sums=("complete", "items", *names),
            kind=Kind.COMPOSITE,
            n="items",
            range=(-1, 1),
        ),
    }
    group = np.zeros(len(chains), np.int64)
    return {
        figure: grouped(measure, chains["cluster"], group, columns, numbers.size, seed).get(0, NOTHING)
        for figure, measure in kinds.items()
    }


def _expected(stages: int, patterns: list[Pattern]) -> Callable[..., Floats]:
    def value(items: Floats, *sums: Floats) -> Floats:
        shares = [ratio(sums[2 * place], sums[2 * place + 1]) for place in range(stages)]
        total = np.zeros_like(items)
        for pattern, many in zip(patterns, sums[2 * stages :], strict=True):
            product = np.ones_like(items)
            for place in pattern:
                product = product * np.where(many > 0, shares[place], 0.0)
            total = total + many * product
        return ratio(total, items)

    return value


def _answers(numbers: Coded, candidate: int, chains: pl.DataFrame | None) -> pl.DataFrame:
    """Answers to questions with a stage; with `chains` only to those of these chains."""
    own = [number for number, axes in enumerate(numbers.conditions) if axes["carry"] == "own"]
    told = (
        numbers.of(candidate, candidate)
        .filter(pl.col("condition").is_in(own), pl.col("outcome") != OUTCOMES.index("unscored"), ~pl.col("open"))
        .join(numbers.subjects.select("subject", "case", "chain", "stage").drop_nulls("stage"), on="subject")
    )
    return told if chains is None else told.join(chains, on=CHAIN, how="semi")


def _swa(answers: pl.DataFrame, stages: list[str], numbers: Coded, seed: int) -> Found:
    """The unweighted mean over the stages that there are."""
    right = (answers["outcome"] == OUTCOMES.index("right")).to_numpy()
    there = [stage for stage in stages if stage in set(answers["stage"])]
    columns: dict[str, Floats] = {}
    for place, stage in enumerate(there):
        inside = (answers["stage"] == stage).to_numpy()
        columns |= {f"right:{place}": (inside & right).astype(float), f"of:{place}": inside.astype(float)}

    def mean(*sums: Floats) -> Floats:
        shares = [ratio(sums[2 * place], sums[2 * place + 1]) for place in range(len(there))]
        return np.asarray(sum(shares) / len(shares))

    measure = Measure(name="swa", value=mean, sums=tuple(columns), kind=Kind.COMPOSITE, n="items")
    found = grouped(measure, answers["cluster"], np.zeros(len(answers), np.int64), columns, numbers.size, seed)
    return found.get(0, NOTHING)
