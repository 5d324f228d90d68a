"""Marks with their texts replaced by whole numbers, so that every sum is a group-by over integers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.marking.slices import SLICE_SCHEMA

REQUIRED = ("candidate", "case", "cluster", "question", "condition", "trial", "option", "outcome", "confidence", "hits")
OPTIONAL = {"gold": pl.Int16(), "k": pl.Int16(), "shares": pl.List(pl.Float64), "judge": pl.String, "parser": pl.String}
ITEM = ("candidate", "cluster", "subject", "condition")


@dataclass(frozen=True)
class Coded:
    """Marks as numbers, and the texts that the numbers stand for (each list in the order of its numbers)."""

    marks: pl.DataFrame  # the columns of ITEM as numbers, trial, and what was judged
    candidates: list[str]
    clusters: list[str]
    conditions: list[dict[str, str]]
    subjects: pl.DataFrame  # one row per question of a case (`subject` is its number), with its slice values
    parsers: str
    judges: str

    @property
    def size(self) -> int:
        return len(self.clusters)


def coded(marks: pl.DataFrame, study: Study) -> Coded:
    """Numbers for candidates (in the study's order), clusters, conditions and questions (each sorted)."""
    marks = _with_all_columns(marks)
    told = [candidate.name for candidate in study.candidates]
    present = set(marks["candidate"].unique())
    candidates = [name for name in told if name in present] + sorted(present - set(told))
    clusters, conditions = _sorted(marks["cluster"]), _sorted(marks["condition"])
    subjects = (
        marks.select("case", "question", *SLICE_SCHEMA)
        .unique(subset=("case", "question"), keep="any")
        .sort("case", "question")
        .with_row_index("subject")
    )
    axes = [{**DEFAULTS, **json.loads(condition)} for condition in conditions]
    verbal = [number for number, values in enumerate(axes) if values["confidence"] == "verbal"]
    numbered = (
        marks.join(subjects.select("subject", "case", "question"), on=("case", "question"), how="left")
        .with_columns(
            _number("candidate", candidates),
            _number("cluster", clusters),
            _number("condition", conditions),
            open=pl.col("kind").eq_missing("open") | (pl.col("kind").is_null() & pl.col("hits").is_not_null()),
        )
        .select(*ITEM, "trial", "option", "outcome", "confidence", "hits", "gold", "k", "shares", "open")
        .with_columns(verbal=pl.col("condition").is_in(verbal))
    )
    return Coded(
        numbered,
        candidates,
        clusters,
        axes,
        subjects.drop("case", "question"),
        "+".join(_sorted(marks["parser"])),
        "+".join(_sorted(marks["judge"])),
    )


def _with_all_columns(marks: pl.DataFrame) -> pl.DataFrame:
    if missing := [name for name in REQUIRED if name not in marks.columns]:
        raise WardroundError(f"marks lack the column {missing[0]!r}")
    absent = {name: kind for name, kind in {**OPTIONAL, **SLICE_SCHEMA}.items() if name not in marks.columns}
    return marks.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in absent.items()).with_columns(
        pl.col("hits").cast(pl.List(pl.Boolean)), pl.col("confidence").cast(pl.Float64)
    )


def _sorted(column: pl.Series) -> list[str]:
    return sorted(column.drop_nulls().unique())


def _number(name: str, values: Iterable[str]) -> pl.Expr:
    return pl.col(name).cast(pl.Enum(list(values))).to_physical().cast(pl.UInt32)
