"""Figures of people: the mean over people, with an interval over people and cases.

Every person counts alike, however much they answered. The variance is that of drawing people anew plus that of drawing
clusters of cases anew, less what both contain twice, the noise of single answers: a bootstrap that draws both at once
would count that noise three times. The interval is a score interval at the effective number of answers, with Student's
quantile for the number of people and of cases (Satterthwaite). Of one person it is over cases alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.marking.slices import SLICE_SCHEMA
from wardround.measuring.bootstrap import LEVEL
from wardround.measuring.exact import Floats
from wardround.measuring.intervals import FEWEST, TOO_FEW
from wardround.measuring.slices import SUBJECT_KEYS, in_order
from wardround.measuring.tables import MEASURES
from wardround.measuring.wilson import wilson

BOTH, CASES = "people and cases", "one person: cases only"
IN_SPECIALTY = "in_specialty"
PERSON = pl.col("person")


class Spread(NamedTuple):
    """A mean over people, its variance from drawing people, cases and both anew, and how many there are of each."""

    mean: float
    by_person: float
    by_cluster: float
    variance: float
    people: int
    clusters: int

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance: of so many people and so many clusters."""
        rest = max(self.variance - self.by_person, 0.0)
        told = self.by_person**2 / (self.people - 1) if self.people > 1 else 0.0
        told += rest**2 / (self.clusters - 1) if self.clusters > 1 else 0.0
        return self.variance**2 / told if told > 0 else inf


def of_models(marks: pl.LazyFrame) -> pl.LazyFrame:
    """The marks that no person's answer has; all that compares and resamples models is over these."""
    return marks.filter(PERSON.is_null()) if has_people(marks) else marks


def has_people(marks: pl.LazyFrame) -> bool:
    there = "person" in marks.collect_schema().names()
    return there and bool(marks.select(PERSON.is_not_null().any()).collect().item())


def measure_people(marks: pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Lines of measures.csv for candidates that are people: accuracy and hit@1, whole, by key, and in or out of
    their specialty."""
    if not has_people(marks):
        return pl.DataFrame(schema=MEASURES)
    answered = marks.filter(PERSON.is_not_null(), pl.col("outcome") != "unscored").collect()
    named = [each.name for each in study.candidates if each.name in set(answered["candidate"])]
    rows = []
    for measure, kind in (("accuracy", "choice"), ("hit@1", "open"), ("unparsed", None)):
        asked = answered if kind is None else answered.filter(pl.col("kind") == kind)
        outcome = "unparsed" if kind is None else "right"
        asked = asked.with_columns(value=(pl.col("outcome") == outcome).cast(pl.Float64))
        for slice, part in _slices(asked):
            for name in named:
                own = part.filter(pl.col("candidate") == name)
                rows += [_line(measure, name, slice, own)] if len(own) else []
    return pl.DataFrame(rows, schema=MEASURES)


def _slices(marks: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """The whole, then every value of every key that has two or more; in and out of specialty where it is known."""
    yield {}, marks
    for key in (*SUBJECT_KEYS, IN_SPECIALTY):
        told = marks.explode(key) if isinstance(SLICE_SCHEMA.get(key), pl.List) else marks
        values = in_order(key, told[key].drop_nulls().unique())
        if len(values) > (key != IN_SPECIALTY):
            yield from (({key: value}, told.filter(pl.col(key) == value)) for value in values)


def _line(measure: str, candidate: str, slice: dict[str, str], marks: pl.DataFrame) -> dict[str, Any]:
    person, cluster = (marks[name].rank("dense").to_numpy() - 1 for name in ("person", "cluster"))
    found = spread(person, cluster, marks["value"].to_numpy())
    low, high, method = interval(found, len(marks))
    return {
        "measure": measure,
        "candidate": candidate,
        "slice": canonical_json(slice),
        "value": found.mean,
        "low": low,
        "high": high,
        "n": len(marks),
        "clusters": found.clusters,
        "unparsed": float((marks["outcome"] == "unparsed").mean()),  # type: ignore[arg-type]
        "method": method,
        "version": f"mean over {found.people} {'person' if found.people == 1 else 'people'}",
    }


def spread(person: Floats, cluster: Floats, value: Floats) -> Spread:
    """The mean over people of each one's mean, and what it varies by. People and clusters are numbered from 0."""
    person, cluster = person.astype(np.int64), cluster.astype(np.int64)
    asked = np.bincount(person)
    people, clusters = len(asked), int(cluster.max()) + 1
    mean = float(np.mean(np.bincount(person, value) / asked))
    score = (value - mean) / (asked[person] * people)  # what one answer adds to mean - its expectation
    by_person = _squares(score, person) * (people / (people - 1) if people > 1 else 0.0)
    by_cluster = _squares(score, cluster) * (clusters / (clusters - 1) if clusters > 1 else 0.0)
    twice = _squares(score, person * clusters + cluster)
    variance = max(by_person + by_cluster - twice, by_person, by_cluster) if people > 1 else by_cluster
    return Spread(mean, by_person, by_cluster, variance, people, clusters)


def _squares(score: Floats, group: Floats) -> float:
    return float((np.bincount(group.astype(np.int64), score) ** 2).sum())


def interval(found: Spread, answers: int) -> tuple[float | None, float | None, str]:
    """The ends of the interval, and how they were found."""
    if found.clusters < FEWEST:
        return None, None, TOO_FEW
    noise = found.mean * (1 - found.mean)
    effective = (
        min(noise / found.variance, answers) if found.variance > 0 and noise > 0 else min(answers, found.clusters)
    )
    quantile = float(stdtrit(min(found.freedom, 1e9), (1 + LEVEL) / 2))
    low, high = wilson(np.array([found.mean]), np.array([float(effective)]), quantile)
    return float(low[0]), float(high[0]), BOTH if found.people > 1 else CASES
