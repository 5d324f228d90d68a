"""Letter-position bias: are some places chosen more often than they are right?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import coded, is_empty
from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import cluster_sums, placed
from wardround.measuring.measures import formulas as of

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
POSITION: dict[str, Any] = {
    "candidate": pl.String,
    "letter": pl.String,
    "chosen": pl.Float64,
    "right": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "method": pl.String,
}


def letter_bias(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Per candidate and letter as shown: how often it was chosen, how often it was right, and the difference.

    Over parsed choices. Without the columns `place` and `gold_place` only answers to unshuffled options tell.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=POSITION)
    numbers = coded(marks, study)
    unshuffled = [number for number, axes in enumerate(numbers.conditions) if axes["options"] == "as-given"]
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(numbers.candidates):
        told = numbers.of(number, number)
        if "gold" not in told.columns:  # no choices at all
            continue
        if "place" in told.columns and "gold_place" in told.columns:
            told = told.with_columns(shown="place", right="gold_place")
        else:
            told = told.filter(pl.col("condition").is_in(unshuffled)).with_columns(shown="option", right="gold")
        told = told.filter(pl.col("shown").is_not_null() & pl.col("right").is_not_null() & ~pl.col("open"))
        rows += _of_candidate(name, told, numbers.size, study.seed)
    return pl.DataFrame(rows, schema=POSITION).with_columns(pl.col("low", "high").fill_nan(None))


def _of_candidate(name: str, told: pl.DataFrame, clusters: int, seed: int) -> list[dict[str, Any]]:
    shown, right = (told[column].cast(pl.Int64).to_numpy() for column in ("shown", "right"))
    letters = int(max(shown.max(initial=-1), right.max(initial=-1))) + 1
    if not letters:
        return []
    at = placed(told.select("candidate", "cluster"), np.arange(len(told)), np.zeros(len(told), np.int64))
    ones = np.ones(len(told))
    names = [f"letter:{letter}" for letter in range(letters)]
    columns = {name: (shown == letter).astype(float) - (right == letter) for letter, name in enumerate(names)}
    sums = cluster_sums(at, columns | {"answers": ones, "unparsed_asked": 0 * ones, "scored_asked": ones})
    measures = [
        Measure(name=each, value=of.ratio, sums=(each, "answers"), kind=Kind.SIGNED, n="answers") for each in names
    ]
    return [
        {
            "candidate": name,
            "letter": LETTERS[letter],
            "chosen": float((shown == letter).mean()),
            "right": float((right == letter).mean()),
            "difference": float(found.value[0]),
            "low": float(found.low[0]),
            "high": float(found.high[0]),
            "n": int(found.n[0]),
            "method": found.method[0],
        }
        for letter, found in enumerate(figured(measures, sums, clusters, seed))
    ]
