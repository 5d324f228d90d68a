"""Complete chains compared with independent stages, and accuracy on chains compared with all questions.

A rate of complete chains far from the product of the stages' accuracies means that errors gather in the same chains,
or that chains and stages are not over the same questions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.chains.breaks import CHAIN, chains_by_stage
from wardround.measuring.engine.encode import OUTCOMES, EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.estimate import NO_ESTIMATE, Estimate, estimate_by_group, in_stage_order
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

INDEPENDENCE = table_schema("candidate", "figure", "value", "low", "high", "n", "clusters")
OBSERVED, EXPECTED, BEYOND, ON_ALL, ON_CHAINS = "found", "expected", "beyond", "swa on all", "swa on chains"
Pattern = tuple[int, ...]  # the numbers of the stages that a chain has


def chain_independence(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """By candidate: observed CCR, CCR of independent stages, their difference, and SWA on all questions and on chains.

    A stage of a chain is right if all its questions are. Expected is the mean over chains of the product of their
    stages' shares right, recomputed in every resample.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=INDEPENDENCE)
    encoded = encode_marks(marks, study)
    stages = in_stage_order(encoded.subjects["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(encoded.candidates):
        chains = chains_by_stage(encoded, number, stages)
        if chains.is_empty():
            continue
        estimates = _chain_estimates(chains, stages, encoded, study.seed)
        for figure, inside in ((ON_ALL, False), (ON_CHAINS, True)):
            estimates[figure] = _swa(_answers(encoded, number, chains if inside else None), stages, encoded, study.seed)
        for figure, estimate in estimates.items():
            rows.append({"candidate": name, "figure": figure, **estimate._asdict()})
    return pl.DataFrame(rows, schema=INDEPENDENCE)


def _chain_estimates(chains: pl.DataFrame, stages: list[str], encoded: EncodedMarks, seed: int) -> dict[str, Estimate]:
    present = np.column_stack([chains[stage].is_not_null().to_numpy() for stage in stages])
    right = np.column_stack([chains[stage].fill_null(False).to_numpy() for stage in stages])
    patterns = [tuple(map(int, np.flatnonzero(row))) for row in np.unique(present, axis=0)]
    own = [tuple(map(int, np.flatnonzero(row))) for row in present]
    complete = (right | ~present).all(axis=1).astype(float)
    columns: dict[str, Floats] = {"complete": complete}
    for place in range(len(stages)):
        columns |= {f"right:{place}": right[:, place].astype(float), f"of:{place}": present[:, place].astype(float)}
    for place, pattern in enumerate(patterns):
        columns[f"pattern:{place}"] = np.array([float(stages_present == pattern) for stages_present in own])
    names = tuple(name for name in columns if name != "complete")
    expected = _expected(len(stages), patterns)

    def beyond(complete: Floats, items: Floats, *sums: Floats) -> Floats:
        return ratio(complete, items) - expected(items, *sums)

    measures: dict[str, Measure] = {
        OBSERVED: Measure(name="ccr", formula=ratio, sums=("complete", "items"), kind=MeasureKind.RATE, n="items"),
        EXPECTED: Measure(
            name="expected", formula=expected, sums=("items", *names), kind=MeasureKind.COMPOSITE, n="items"
        ),
        BEYOND: Measure(
            name="beyond",
            formula=beyond,
            sums=("complete", "items", *names),
            kind=MeasureKind.COMPOSITE,
            n="items",
            bounds=(-1, 1),
        ),
    }
    group = np.zeros(len(chains), np.int64)
    return {
        figure: estimate_by_group(measure, chains["cluster"], group, columns, encoded.cluster_count, seed).get(
            0, NO_ESTIMATE
        )
        for figure, measure in measures.items()
    }


def _expected(stages: int, patterns: list[Pattern]) -> Callable[..., Floats]:
    def value(items: Floats, *sums: Floats) -> Floats:
        shares = [ratio(sums[2 * place], sums[2 * place + 1]) for place in range(stages)]
        total = np.zeros_like(items)
        for pattern, count in zip(patterns, sums[2 * stages :], strict=True):
            product = np.ones_like(items)
            for place in pattern:
                product = product * np.where(count > 0, shares[place], 0.0)
            total = total + count * product
        return ratio(total, items)

    return value


def _answers(encoded: EncodedMarks, candidate: int, chains: pl.DataFrame | None) -> pl.DataFrame:
    """Answers to questions with a stage; with `chains` only to those of these chains."""
    answers = (
        encoded.marks_of(candidate)
        .filter(
            encoded.has_value("carry", "own"),
            pl.col("outcome") != OUTCOMES.index("unscored"),
            ~pl.col("open"),
            ~pl.col("rubric"),
        )
        .join(encoded.subjects.select("subject", "case", "chain", "stage").drop_nulls("stage"), on="subject")
    )
    return answers if chains is None else answers.join(chains, on=CHAIN, how="semi")


def _swa(answers: pl.DataFrame, stages: list[str], encoded: EncodedMarks, seed: int) -> Estimate:
    """The unweighted mean over the stages that occur."""
    right = (answers["outcome"] == OUTCOMES.index("right")).to_numpy()
    present = [stage for stage in stages if stage in set(answers["stage"])]
    columns: dict[str, Floats] = {}
    for place, stage in enumerate(present):
        inside = (answers["stage"] == stage).to_numpy()
        columns |= {f"right:{place}": (inside & right).astype(float), f"of:{place}": inside.astype(float)}

    def mean(*sums: Floats) -> Floats:
        shares = [ratio(sums[2 * place], sums[2 * place + 1]) for place in range(len(present))]
        return np.asarray(sum(shares) / len(shares))

    measure = Measure(name="swa", formula=mean, sums=tuple(columns), kind=MeasureKind.COMPOSITE, n="items")
    estimates = estimate_by_group(
        measure, answers["cluster"], np.zeros(len(answers), np.int64), columns, encoded.cluster_count, seed
    )
    return estimates.get(0, NO_ESTIMATE)
