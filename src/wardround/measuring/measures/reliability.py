"""Reliability diagrams and risk-coverage curves: what confidence is worth, as pictures show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import Coded, coded, is_empty
from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.items import items
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import added, cluster_sums, placed
from wardround.measuring.measures import formulas as of
from wardround.measuring.measures.confidence import BINS, Claims, bin_of

RELIABILITY: dict[str, Any] = {
    "candidate": pl.String,
    "version": pl.String,
    "bin_low": pl.Float64,
    "bin_high": pl.Float64,
    "n": pl.Int64,
    "confidence": pl.Float64,
    "accuracy": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "method": pl.String,
}
RISK: dict[str, Any] = {
    "candidate": pl.String,
    "version": pl.String,
    "threshold": pl.Float64,
    "coverage": pl.Float64,
    "accuracy": pl.Float64,
    "risk": pl.Float64,
    "n": pl.Int64,
}
_ACCURACY = Measure(name="accuracy", value=of.accuracy, sums=("right", "claims"), kind=Kind.RATE, n="claims")


def reliability(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Per candidate, way of confidence and bin: mean confidence, and accuracy with its interval. No empty bins."""
    rows: list[dict[str, Any]] = []
    for name, version, claims, about, numbers in _claims(marks, study):
        at = placed(about, np.arange(len(about)), bin_of(claims.confidence))
        ones, right = np.ones(len(about)), exact(claims.right)
        columns = {"claims": ones, "right": right, "confidence": exact(claims.confidence)}
        sums = cluster_sums(at, columns | {"unparsed_asked": 0 * ones, "scored_asked": ones})
        (found,) = figured([_ACCURACY], sums, numbers.size, study.seed)
        stated = sums.cell_total("confidence") / sums.cell_total("claims")
        for cell, b in enumerate(sums.slice.tolist()):
            told = {"candidate": name, "version": version, "bin_low": b / BINS, "bin_high": (b + 1) / BINS}
            told |= {"n": int(found.n[cell]), "confidence": float(stated[cell]), "accuracy": float(found.value[cell])}
            told |= {"low": float(found.low[cell]), "high": float(found.high[cell]), "method": found.method[cell]}
            rows.append(told)
    return pl.DataFrame(rows, schema=RELIABILITY).with_columns(pl.col("low", "high").fill_nan(None))


def risk_coverage(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """For each confidence at which a candidate may start to answer: how much it answers, and how well.

    A candidate that abstains below the threshold covers `coverage` of the claims; risk is 1 - accuracy.
    """
    tables = [
        _curve(claims).select(pl.lit(name).alias("candidate"), pl.lit(version).alias("version"), pl.all())
        for name, version, claims, _, _ in _claims(marks, study)
    ]
    return pl.concat([pl.DataFrame(schema=RISK), *tables])


def _curve(claims: Claims) -> pl.DataFrame:
    levels, level = np.unique(-exact(claims.confidence), return_inverse=True)
    kept: Floats = np.cumsum(np.bincount(level, minlength=len(levels)).astype(float))
    accuracy = np.cumsum(added(level, claims.right, len(levels))) / kept
    coverage = kept / len(claims.item)
    told = {"threshold": -levels, "coverage": coverage, "accuracy": accuracy, "risk": 1 - accuracy}
    return pl.DataFrame({**told, "n": kept.astype(np.int64)})


def _claims(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> Iterator[tuple[str, str, Claims, pl.DataFrame, Coded]]:
    """The claims of each candidate and way of confidence, with the candidate and cluster of each claim."""
    if is_empty(marks):
        return
    numbers = coded(marks, study)
    versions = {"verbal": "verbal", "votes": f"T={study.trials}", "inf": "inf"}
    for number, name in enumerate(numbers.candidates):
        each = items(numbers.of(number, number), study.trials, numbers)
        for source, claims in each.claims.items():
            if len(claims.item):
                yield name, versions[source], claims, each.rows[claims.item].select("candidate", "cluster"), numbers
