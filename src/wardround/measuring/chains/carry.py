"""The effect of an upstream error: the same questions after a right and after a wrong earlier answer (`carry`)."""

import json
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.comparing.signflip import sign_flip
from wardround.measuring.engine.encode import OUTCOMES, EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.estimate import NO_ESTIMATE, Estimate, estimate_by_stage, in_stage_order
from wardround.measuring.engine.exact import exact
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

CARRIED = ("gold", "own", "wrong", "none")
# Stage is empty for all stages that have an earlier one. CARRIED: accuracy with this carried, on questions asked with
# gold and wrong. Effect: gold - wrong. Lost: gold - own, what the candidate's own errors cost it.
EFFECTS = table_schema(
    *("candidate", "stage", *CARRIED, "effect", "low", "high", "p", "p_adjusted"),
    *("lost", "lost_low", "lost_high", "n", "clusters", "method"),
)
_DIFFERENCE = Measure(name="difference", formula=ratio, sums=("part", "items"), kind=MeasureKind.SIGNED, n="items")


def upstream_effects(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Accuracy after right minus accuracy after wrong earlier answers, paired, by candidate and stage.

    Only questions with earlier ones, in the same trial and under otherwise the same condition. Unparsed is wrong,
    and refused unless the study leaves it out; unscored is left out. p is by sign flips over clusters, adjusted for all
    stages and candidates.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=EFFECTS)
    encoded = encode_marks(marks, study)
    dependent = encoded.subjects.filter(pl.col("given").list.len() > 0)
    stages = in_stage_order(dependent["stage"])
    rows: list[dict[str, Any]] = []
    flipped: list[np.ndarray[Any, Any]] = []
    for number, name in enumerate(encoded.candidates):
        answers = _answers_by_carry(encoded, number, dependent)
        pairs = answers.drop_nulls(["gold", "wrong"])
        if pairs.is_empty():
            continue
        effect = _differences(pairs, "wrong", stages, encoded, study.seed)
        lost = _differences(answers.drop_nulls(["gold", "own"]), "own", stages, encoded, study.seed)
        for stage, estimate in effect.items():
            own, cost = pairs.filter(stage=stage) if stage else pairs, lost.get(stage, NO_ESTIMATE)
            flipped.append(_by_cluster(own, encoded.cluster_count))
            rows.append(
                {
                    "candidate": name,
                    "stage": stage,
                    **{value: own[value].mean() for value in CARRIED},
                    **estimate._asdict(),
                    "effect": estimate.value,
                    "lost": cost.value,
                    "lost_low": cost.low,
                    "lost_high": cost.high,
                }
            )
    if not rows:
        return pl.DataFrame(schema=EFFECTS)
    tested = sign_flip(np.column_stack(flipped), study.seed)
    for place, row in enumerate(rows):
        row |= {"p": float(tested.p[place]), "p_adjusted": float(tested.p_adjusted[place])}
    return pl.DataFrame(rows, schema=EFFECTS)


def _answers_by_carry(encoded: EncodedMarks, candidate: int, dependent: pl.DataFrame) -> pl.DataFrame:
    """Each question in each trial, and whether it was right with each value of `carry`."""
    others = [json.dumps({**axes, "carry": ""}, sort_keys=True) for axes in encoded.conditions]
    carries = pl.DataFrame(
        {
            "condition": pl.Series(range(len(others)), dtype=pl.UInt32),
            "carry": [axes["carry"] for axes in encoded.conditions],
            "other": others,
        }
    )
    right = (pl.col("outcome") == OUTCOMES.index("right")).cast(pl.Float64)
    return (
        encoded.marks_of(candidate)
        .filter(pl.col("outcome") != OUTCOMES.index("unscored"), ~pl.col("open"), ~pl.col("rubric"))
        .join(dependent.select("subject", "stage"), on="subject")
        .join(carries, on="condition")
        .sort("other", "subject", "trial")
        .group_by("other", "cluster", "subject", "stage", "trial", maintain_order=True)
        .agg(right.filter(pl.col("carry") == value).first().alias(value) for value in CARRIED)
    )


def _differences(
    pairs: pl.DataFrame, subtrahend: str, stages: list[str], encoded: EncodedMarks, seed: int
) -> dict[str, Estimate]:
    columns = {"part": (pairs["gold"] - pairs[subtrahend]).to_numpy()}
    return estimate_by_stage(_DIFFERENCE, pairs, columns, stages, encoded.cluster_count, seed)


def _by_cluster(pairs: pl.DataFrame, clusters: int) -> np.ndarray[Any, Any]:
    change = exact((pairs["gold"] - pairs["wrong"]).to_numpy())
    return np.bincount(pairs["cluster"].to_numpy(), weights=change, minlength=clusters)
