"""Figures of people: the mean over people, with an interval over people and cases (see spread.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import Study
from wardround.marking.slice_values import SLICE_SCHEMA
from wardround.measuring.engine.slices import MEANS, SUBJECT_KEYS, in_order
from wardround.measuring.engine.tables import MEASURES
from wardround.measuring.measures.definitions import OF_A_QUESTION
from wardround.measuring.people.chains import chains_of
from wardround.measuring.people.confidence import of_confidence
from wardround.measuring.people.variance import Figure, numbered, score_interval, spread

IN_SPECIALTY = "in_specialty"
KEYS = (*SUBJECT_KEYS, IN_SPECIALTY)
PERSON = pl.col("person")
Row = dict[str, Any]
Sliced = tuple[dict[str, str], pl.DataFrame]
Figures = Callable[[pl.DataFrame], list[Figure]]


def of_models(marks: pl.LazyFrame) -> pl.LazyFrame:
    """The marks that no person's answer has; all that compares and resamples models is over these."""
    return marks.filter(PERSON.is_null()) if has_people(marks) else marks


def has_people(marks: pl.LazyFrame) -> bool:
    there = "person" in marks.collect_schema().names()
    return there and bool(marks.select(PERSON.is_not_null().any()).collect().item())


def scored(marks: pl.LazyFrame) -> pl.LazyFrame:
    """Marks that count, with `value` (1 where right, 0 where wrong or unparsed) and whether they are `unparsed`."""
    right, unparsed = ((pl.col("outcome") == name).cast(pl.Float64) for name in ("right", "unparsed"))
    return marks.filter(pl.col("outcome") != "unscored").with_columns(value=right, unparsed=unparsed)


def measure_people(marks: pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Lines of measures.csv for candidates that are people: whole, by key, and in or out of their specialty."""
    if not has_people(marks):
        return pl.DataFrame(schema=MEASURES)
    answered = scored(marks.filter(PERSON.is_not_null())).collect()
    choice, open = (answered.filter(pl.col("kind") == kind) for kind in ("choice", "open"))
    stating = answered.filter(pl.col("confidence").is_not_null().any().over("candidate"))
    unstated = stating.with_columns(value=pl.col("confidence").is_null().cast(pl.Float64))
    of_a_case = [key for key in KEYS if key not in OF_A_QUESTION]
    rows = [
        *_lines(_share("accuracy"), choice, study),
        *_lines(_share("accuracy_parsed"), choice.filter(pl.col("unparsed") == 0), study),
        *_lines(_share("hit@1"), open, study),
        *_lines(_share("unparsed"), answered.with_columns(value="unparsed"), study),
        *(row for key in MEANS for row in _means(key, choice, marks, study)),
        *_lines(_share("ccr"), chains_of(answered, marks), study, of_a_case),
        *_lines(_share("confidence_missing", "verbal"), unstated, study),
        *_lines(of_confidence, stating.filter(pl.col("confidence").is_not_null()), study),
    ]
    order = list(dict.fromkeys(row["measure"] for row in rows))
    return pl.DataFrame(sorted(rows, key=lambda row: order.index(row["measure"])), schema=MEASURES)


def _lines(figures: Figures, marks: pl.DataFrame, study: Study, keys: Sequence[str] = KEYS) -> Iterator[Row]:
    for slice, part in (*_by_axes(marks, study), *_by_keys(marks, keys)):
        yield from _of_each(figures, part, slice, study)


def _of_each(figures: Figures, marks: pl.DataFrame, slice: Mapping[str, str], study: Study) -> Iterator[Row]:
    """One slice, candidate after candidate."""
    for name in (each.name for each in study.candidates):
        own = marks.filter(pl.col("candidate") == name)
        if len(own):
            told = {"candidate": name, "slice": canonical_json(dict(slice)), "n": len(own)}
            told |= {"clusters": own["cluster"].n_unique(), "unparsed": own["unparsed"].mean()}
            yield from (figure._asdict() | told for figure in figures(own))


def _by_axes(marks: pl.DataFrame, study: Study) -> Iterator[Sliced]:
    """The whole; then what varies, by the conditions that people answered under: each axis, each pair, all of them."""
    axes = study.varied_axes
    conditions = {told: DEFAULTS | json.loads(told) for told in marks["condition"].unique().sort()}
    every = [tuple(axes)] if len(axes) > 2 else []
    for keys in ((), *combinations(axes, 1), *combinations(axes, 2), *every):
        alike: dict[tuple[str, ...], list[str]] = {}
        for told, values in conditions.items():
            alike.setdefault(tuple(values[key] for key in keys), []).append(told)
        for chosen, told in alike.items():
            yield dict(zip(keys, chosen, strict=True)), marks.filter(pl.col("condition").is_in(told))


def _by_keys(marks: pl.DataFrame, keys: Sequence[str]) -> Iterator[Sliced]:
    """Every value of every key that has two or more; in and out of specialty where it is known."""
    for key in keys:
        told = marks.explode(key) if isinstance(SLICE_SCHEMA.get(key), pl.List) else marks
        values = in_order(key, told[key].drop_nulls().unique())
        if len(values) > (key != IN_SPECIALTY):
            yield from (({key: value}, told.filter(pl.col(key) == value)) for value in values)


def _share(measure: str, version: str = "", over: str | None = None) -> Figures:
    """A share of answers; `over` is the key of whose values the unweighted mean is meant."""

    def figures(marks: pl.DataFrame) -> list[Figure]:
        part = None if over is None else marks[over].rank("dense").to_numpy() - 1
        found = spread(*numbered(marks), marks["value"].to_numpy(), part)
        low, high, method = score_interval(found, len(marks))
        return [Figure(measure, found.mean, low, high, method, version or f"mean over {found.who}")]

    return figures


def _means(key: str, choice: pl.DataFrame, marks: pl.LazyFrame, study: Study) -> Iterator[Row]:
    """X-PCR's accuracy by stage or grade, and the unweighted mean over all that the run asked: none if one lacks."""
    asked = marks.filter(pl.col("kind") == "choice").select(pl.col(key).drop_nulls().unique()).collect()[key]
    values = in_order(key, asked)
    if len(values) < 2:
        return
    for slice, part in _by_axes(choice.filter(pl.col(key).is_not_null()), study):
        for value in values:
            yield from _of_each(_share(MEANS[key]), part.filter(pl.col(key) == value), {**slice, key: value}, study)
        whole = part.filter(pl.col(key).n_unique().over("candidate") == len(values))
        yield from _of_each(_share(MEANS[key], over=key), whole, {**slice, key: "mean"}, study)
