"""Measures of people: the mean over people, with an interval over people and cases (see variance.py)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import Study
from wardround.marking.slice_values import SLICE_SCHEMA
from wardround.measuring.engine.measure import STATED, measure_name
from wardround.measuring.engine.slices import MEANS, SUBJECT_KEYS, in_order
from wardround.measuring.engine.tables import MEASURES
from wardround.measuring.measures.record import QUESTION_KEYS
from wardround.measuring.people.confidence import confidence_estimates, uas_estimates
from wardround.measuring.people.variance import PeopleEstimate, mean_over_people, numbered, score_interval

IN_SPECIALTY = "in_specialty"
KEYS = (*SUBJECT_KEYS, IN_SPECIALTY)
PERSON = pl.col("person")
CHAIN = ("case", "chain")
ATTEMPT = ("candidate", *CHAIN, "person", "trial")
Row = dict[str, Any]
Sliced = tuple[dict[str, str], pl.DataFrame]
EstimateFunction = Callable[[pl.DataFrame], list[PeopleEstimate]]


def without_people(marks: pl.LazyFrame) -> pl.LazyFrame:
    """The marks of models; comparisons and resamples of models use only these."""
    return marks.filter(PERSON.is_null()) if has_people(marks) else marks


def has_people(marks: pl.LazyFrame) -> bool:
    has_column = "person" in marks.collect_schema().names()
    return has_column and bool(marks.select(PERSON.is_not_null().any()).collect().item())


def scored(marks: pl.LazyFrame, study: Study) -> pl.LazyFrame:
    """Scored marks, with `value` (1: right, 0: wrong, unparsed or refused) and `unparsed`."""
    right, unparsed = ((pl.col("outcome") == name).cast(pl.Float64) for name in ("right", "unparsed"))
    return marks.filter(pl.col("outcome").is_in(study.scored_outcomes)).with_columns(value=right, unparsed=unparsed)


def measure_people(marks: pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Lines of measures.csv for candidates that are people: overall, by key, and in or out of their specialty."""
    if not has_people(marks):
        return pl.DataFrame(schema=MEASURES)
    answered = scored(marks.filter(PERSON.is_not_null()), study).collect()
    choice, open_answers = (answered.filter(pl.col("kind") == kind) for kind in ("choice", "open"))
    stating = answered.filter(pl.col("confidence").is_not_null().any().over("candidate"))
    unstated = stating.with_columns(value=pl.col("confidence").is_null().cast(pl.Float64))
    case_keys = [key for key in KEYS if key not in QUESTION_KEYS]
    rows = [
        *_lines(_share("accuracy"), choice, study),
        *_lines(_share("accuracy_parsed"), choice.filter(pl.col("unparsed") == 0), study),
        *_lines(_share("hit@1"), open_answers, study),
        *_lines(_share("unparsed"), answered.with_columns(value="unparsed"), study),
        *(row for key in MEANS for row in _means(key, choice, marks, study)),
        *_lines(_share("ccr"), _complete_chains(answered, marks), study, case_keys),
        *_lines(_share(measure_name("confidence_missing", STATED)), unstated, study),
        *_lines(confidence_estimates, stating.filter(pl.col("confidence").is_not_null()), study),
        *_lines(uas_estimates(marks), stating.filter(pl.col("kind") == "choice"), study),
    ]
    order = list(dict.fromkeys(row["measure"] for row in rows))
    return pl.DataFrame(sorted(rows, key=lambda row: order.index(row["measure"])), schema=MEASURES)


def _lines(estimates: EstimateFunction, marks: pl.DataFrame, study: Study, keys: Sequence[str] = KEYS) -> Iterator[Row]:
    by_axes = list(_by_axes(marks, study))
    at_reference = [marks for slice, marks in by_axes if not slice]
    by_keys = [sliced for marks in at_reference for sliced in _by_keys(marks, keys)]
    for slice, part in by_axes + by_keys:
        yield from _by_candidate(estimates, part, slice, study)


def _by_candidate(
    estimates: EstimateFunction, marks: pl.DataFrame, slice: Mapping[str, str], study: Study
) -> Iterator[Row]:
    """One slice, candidate after candidate."""
    for name in (candidate.name for candidate in study.candidates):
        own = marks.filter(pl.col("candidate") == name)
        if len(own):
            columns = {"candidate": name, "slice": canonical_json(dict(slice)), "n": len(own)}
            columns |= {"clusters": own["cluster"].n_unique(), "unparsed": own["unparsed"].mean()}
            columns["refused"] = 0.0  # no server stands between
            yield from (estimate._asdict() | columns for estimate in estimates(own))


def _by_axes(marks: pl.DataFrame, study: Study) -> Iterator[Sliced]:
    """The reference condition; then each varied axis, each pair, all of them, the other axes at their reference."""
    axes = study.varied_axes
    axes_by_condition = {name: DEFAULTS | json.loads(name) for name in marks["condition"].unique().sort()}
    all_axes = [tuple(axes)] if len(axes) > 2 else []
    for keys in ((), *combinations(axes, 1), *combinations(axes, 2), *all_axes):
        conditions_by_values: dict[tuple[str, ...], list[str]] = {}
        fixed = {axis: value for axis, value in study.reference_condition.items() if axis not in keys}
        for name, values in axes_by_condition.items():
            if not fixed.items() <= values.items():
                continue
            conditions_by_values.setdefault(tuple(values[key] for key in keys), []).append(name)
        for chosen, conditions in conditions_by_values.items():
            yield dict(zip(keys, chosen, strict=True)), marks.filter(pl.col("condition").is_in(conditions))


def _by_keys(marks: pl.DataFrame, keys: Sequence[str]) -> Iterator[Sliced]:
    """Every value of every key that has two or more; in and out of specialty if known."""
    for key in keys:
        exploded = marks.explode(key) if isinstance(SLICE_SCHEMA.get(key), pl.List) else marks
        values = in_order(key, exploded[key].drop_nulls().unique())
        if len(values) > (key != IN_SPECIALTY):
            yield from (({key: value}, exploded.filter(pl.col(key) == value)) for value in values)


def _share(measure: str, over: str | None = None) -> EstimateFunction:
    """A share of answers; with `over` the unweighted mean over the values of that key."""

    def estimates(marks: pl.DataFrame) -> list[PeopleEstimate]:
        part = None if over is None else marks[over].rank("dense").to_numpy() - 1
        over_people = mean_over_people(*numbered(marks), marks["value"].to_numpy(), part)
        low, high, method = score_interval(over_people, len(marks))
        return [PeopleEstimate(measure, over_people.mean, low, high, method, f"mean over {over_people.who}")]

    return estimates


def _means(key: str, choice: pl.DataFrame, marks: pl.LazyFrame, study: Study) -> Iterator[Row]:
    """X-PCR's accuracy by stage or grade, and the unweighted mean over all in the run; none if one is missing."""
    asked = marks.filter(pl.col("kind") == "choice").select(pl.col(key).drop_nulls().unique()).collect()[key]
    values = in_order(key, asked)
    if len(values) < 2:
        return
    for slice, part in _by_axes(choice.filter(pl.col(key).is_not_null()), study):
        for value in values:
            yield from _by_candidate(
                _share(MEANS[key]), part.filter(pl.col(key) == value), {**slice, key: value}, study
            )
        complete = part.filter(pl.col(key).n_unique().over("candidate") == len(values))
        yield from _by_candidate(_share(MEANS[key], over=key), complete, {**slice, key: "mean"}, study)


def _complete_chains(answered: pl.DataFrame, marks: pl.LazyFrame) -> pl.DataFrame:
    """One line per chain that a person completed: right if every stage is (X-PCR's CCR).

    Its keys are those of its last question, in the order of names. All questions of the chain in the run must be
    answered and scored, as with models.
    """
    linked = marks.filter(pl.col("chain").is_not_null()).select(*CHAIN, "question").unique()
    links = linked.group_by(CHAIN).agg(links=pl.len()).collect()
    answers = answered.filter(pl.col("chain").is_not_null()).sort(*ATTEMPT, "question")
    others = [name for name in answers.columns if name not in (*ATTEMPT, "value", "unparsed")]
    chains = answers.group_by(ATTEMPT, maintain_order=True).agg(
        pl.col("value").min(), pl.col("unparsed").mean(), pl.col(others).last(), answers=pl.len()
    )
    return chains.join(links, on=CHAIN, maintain_order="left").filter(pl.col("answers") == pl.col("links"))
