"""The data of reliability diagrams and risk-coverage curves."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import EncodedMarks, Marks, encode_marks, is_empty
from wardround.measuring.engine.estimate import estimate_by_group
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.items import build_items
from wardround.measuring.engine.measure import LIMIT, STATED, STATED_OPEN, VOTES, Measure, MeasureKind
from wardround.measuring.engine.sums import sum_by_index
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.confidence import BINS, Claims, confidence_bins
from wardround.measuring.measures.formulas import ratio

RELIABILITY = table_schema(
    *("candidate", "source", "bin_low", "bin_high", "n", "confidence", "accuracy", "low", "high", "method"),
)
RISK = table_schema("candidate", "source", "threshold", "coverage", "accuracy", "risk", "n")
_ACCURACY = Measure(name="accuracy", formula=ratio, sums=("part", "items"), kind=MeasureKind.RATE, n="items")


def reliability(marks: Marks, study: Study) -> pl.DataFrame:
    """Per candidate, source of confidence and bin: mean confidence, and accuracy with its interval. No empty bins."""
    rows: list[dict[str, Any]] = []
    for name, source, claims, cluster, clusters in _claims(marks, study):
        bins, columns = confidence_bins(claims.confidence), {"part": claims.right}
        stated = ratio(*(sum_by_index(bins, v, BINS) for v in (exact(claims.confidence), np.ones(len(bins)))))
        for b, estimate in estimate_by_group(_ACCURACY, cluster, bins, columns, clusters, study.seed).items():
            row = {"candidate": name, "source": source, "bin_low": b / BINS, "bin_high": (b + 1) / BINS}
            row |= {"confidence": float(stated[b]), "accuracy": estimate.value}
            rows.append(row | estimate._asdict())
    return pl.DataFrame(rows, schema=RELIABILITY)


def risk_coverage(marks: Marks, study: Study) -> pl.DataFrame:
    """For each threshold of confidence: coverage, and accuracy of the claims above it.

    A candidate that abstains below the threshold covers `coverage` of the claims; risk is 1 - accuracy.
    """
    tables = [
        _curve(claims).select(pl.lit(name).alias("candidate"), pl.lit(source).alias("source"), pl.all())
        for name, source, claims, _, _ in _claims(marks, study)
    ]
    return pl.concat([pl.DataFrame(schema=RISK), *tables])


def _curve(claims: Claims) -> pl.DataFrame:
    levels, level = np.unique(-exact(claims.confidence), return_inverse=True)
    answered: Floats = np.cumsum(np.bincount(level, minlength=len(levels)).astype(float))
    accuracy = np.cumsum(sum_by_index(level, claims.right, len(levels))) / answered
    coverage = answered / len(claims.item)
    columns = {"threshold": -levels, "coverage": coverage, "accuracy": accuracy, "risk": 1 - accuracy}
    return pl.DataFrame({**columns, "n": answered.astype(np.int64)})


def _claims(marks: Marks, study: Study) -> Iterator[tuple[str, str, Claims, pl.Series, int]]:
    """Candidate, source of confidence, claims, the cluster of each claim, and the number of clusters of the study."""
    if is_empty(marks):
        return
    encoded = encode_marks(marks, study)
    sources = {"verbal": STATED, "verbal_open": STATED_OPEN, "votes": VOTES, "inf": LIMIT}
    for number, name in enumerate(encoded.candidates):
        for source, (claims, cluster) in _claims_of(number, encoded, study.trials).items():
            yield name, sources[source], claims, cluster, encoded.cluster_count


def _claims_of(number: int, encoded: EncodedMarks, trials: int) -> dict[str, tuple[Claims, pl.Series]]:
    """The claims of one candidate and their clusters, by source; its items, which take most memory, are dropped."""
    items = build_items(encoded.marks_of(number), trials, encoded)
    return {
        source: (claims, items.rows["cluster"][claims.item])
        for source, claims in items.claims.items()
        if len(claims.item)
    }
