"""Marks with their texts replaced by whole numbers, so that every sum is taken over integers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.marking.slice_values import CARRIED_SCHEMA, SLICE_SCHEMA, STRATA_SCHEMA
from wardround.measuring.engine.columns import OPTIONAL

REQUIRED = ("candidate", "case", "cluster", "question", "condition", "trial", "option", "outcome", "confidence", "hits")
ITEM = ("candidate", "cluster", "subject", "condition")
OUTCOMES = ("right", "wrong", "unparsed", "unscored")
STRATUM = tuple(STRATA_SCHEMA)


@dataclass(frozen=True)
class Coded:
    """Marks as numbers, and the texts that the numbers stand for (each list in the order of its numbers)."""

    source: pl.LazyFrame
    rows: int
    candidates: list[str]
    clusters: list[str]
    conditions: list[dict[str, str]]
    subjects: pl.DataFrame  # one row per question of a case (`subject` is its number), with its slice values
    strata: dict[str, list[str]]  # values of type, severity and category
    extras: tuple[str, ...]  # the optional columns that hold anything
    parsers: str
    judges: str
    _texts: dict[str, list[str]]

    @property
    def size(self) -> int:
        return len(self.clusters)

    def of(self, first: int, last: int) -> pl.DataFrame:
        """The marks of some candidates, from the first to the last: ITEM as numbers, trial, and what was judged."""
        chosen = self.candidates[first : last + 1]
        told = self.source if len(chosen) == len(self.candidates) else self.source.filter(_one_of("candidate", chosen))
        found = told.select(
            _number("candidate", self.candidates),
            *(_number(name, self._texts[name]) for name in ("cluster", "condition")),
            _key(self._texts).alias("subject"),
            "trial",
            "option",
            _number("outcome", OUTCOMES).cast(pl.UInt8),
            *(name for name in ("confidence", "hits") if name in self.extras),
            *(name for name in self.extras if name not in ("confidence", "hits", "judge", "parser")),
            *(_number(name, values) for name, values in self.strata.items()),
            open=_is_open(),
        ).collect()
        keys = self.subjects["key"].to_numpy()
        subject = pl.Series("subject", np.searchsorted(keys, found["subject"].to_numpy()), dtype=pl.UInt32)
        return found.with_columns(subject, verbal=self._is_verbal())

    @property
    def has_probes(self) -> bool:
        return any(axes["probe"] != "none" for axes in self.conditions)

    @property
    def is_probe(self) -> pl.Expr:
        """Whether a mark tells of a probe of leakage, not of an answer."""
        return pl.col("condition").is_in([n for n, axes in enumerate(self.conditions) if axes["probe"] != "none"])

    def _is_verbal(self) -> pl.Expr:
        return pl.col("condition").is_in(
            [n for n, axes in enumerate(self.conditions) if axes["confidence"] == "verbal"]
        )


def is_empty(marks: pl.DataFrame | pl.LazyFrame) -> bool:
    """Whether there is no mark."""
    return marks.lazy().head(1).collect().is_empty()


def coded(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> Coded:
    """Numbers for candidates (in the study's order), clusters, conditions and questions (each sorted)."""
    source = _with_all_columns(marks.lazy())
    texts = ("candidate", "cluster", "condition", "case", "question", "parser", "judge", *STRATUM)
    told = [column.name for column in OPTIONAL] + ["confidence", "hits"]
    # column by column: what is read of one need not be held while the next is
    found = {name: sorted(source.select(_distinct(name)).collect()[name]) for name in texts}
    there = [name for name in told if source.select(pl.col(name).count()).collect().item()]
    named = [candidate.name for candidate in study.candidates]
    candidates = [name for name in named if name in found["candidate"]]
    axes = [{**DEFAULTS, **json.loads(condition)} for condition in found["condition"]]
    return Coded(
        source,
        source.select(pl.len()).collect().item(),
        candidates + [name for name in found["candidate"] if name not in candidates],
        found["cluster"],
        axes,
        _subjects(source, found),
        {name: found[name] for name in STRATUM} if any(found[name] for name in STRATUM) else {},
        tuple(there),
        "+".join(found["parser"]),
        "+".join(found["judge"]),
        found,
    )


def _with_all_columns(marks: pl.LazyFrame) -> pl.LazyFrame:
    there = marks.collect_schema().names()
    if missing := [name for name in REQUIRED if name not in there]:
        raise WardroundError(f"marks lack the column {missing[0]!r}")
    known = {column.name: column.dtype for column in OPTIONAL}
    known |= SLICE_SCHEMA | STRATA_SCHEMA | CARRIED_SCHEMA
    absent = {name: dtype for name, dtype in known.items() if name not in there}
    return marks.with_columns(
        *(pl.lit(None, dtype=dtype).alias(name) for name, dtype in absent.items()),
        pl.col("hits").cast(pl.List(pl.Boolean)),
        pl.col("confidence").cast(pl.Float64),
    )


def _subjects(source: pl.LazyFrame, texts: dict[str, list[str]]) -> pl.DataFrame:
    """Each question of each case once. The first candidate's marks mostly tell all of them."""
    about = source.select(_key(texts).alias("key"), "candidate", "case", "question", *SLICE_SCHEMA, *CARRIED_SCHEMA)
    starts = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in ("case", "question"))
    keys = source.filter(starts).select(_key(texts).unique().sort().alias("key")).collect()["key"]
    found = _first_of_each(about.filter(_one_of("candidate", texts["candidate"][:1])))
    if len(found) < len(keys):
        others = about.filter(~pl.col("key").is_in(found["key"].implode()))
        found = pl.concat([found, _first_of_each(others)])
    return found.drop("candidate").sort("key").with_row_index("subject")


def _first_of_each(about: pl.LazyFrame) -> pl.DataFrame:
    """The first row of every key, taken column by column: `unique` over all columns takes many times the memory."""
    rows = about.select("key").collect()["key"].arg_unique()
    names = about.collect_schema().names()
    return pl.DataFrame([about.select(name).collect().to_series().gather(rows) for name in names])


def _key(texts: dict[str, list[str]]) -> pl.Expr:
    """Case and question as one number, in the order of their names."""
    case, question = (_number(name, texts[name]).cast(pl.Int64) for name in ("case", "question"))
    return case * len(texts["question"]) + question


def _is_open() -> pl.Expr:
    kind = pl.col("kind")
    return kind.eq_missing("open") | (kind.is_null() & pl.col("hits").is_not_null())


def _distinct(name: str) -> pl.Expr:
    """The texts of a column; only the first of each run of equal ones is looked up."""
    return pl.col(name).rle().struct.field("value").unique().drop_nulls().cast(pl.String).alias(name)


def _one_of(name: str, values: Sequence[str]) -> pl.Expr:
    return pl.col(name).cast(pl.String).is_in(list(values))


def _number(name: str, values: Sequence[str]) -> pl.Expr:
    if not values:
        return pl.lit(None, dtype=pl.UInt32).alias(name)
    return pl.col(name).cast(pl.Enum(list(values))).to_physical().cast(pl.UInt32).alias(name)
