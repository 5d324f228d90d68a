"""Spread: how far a mean over people would move with other people and with other cases.

Every person counts alike, however much they answered. The variance is that of drawing people anew plus that of drawing
clusters of cases anew, less what both contain twice, the noise of single answers: a bootstrap that draws both at once
would count that noise three times. Student's quantile is at the freedom of so many people and so many cases
(Satterthwaite). Of one person all is over cases alone.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtr, stdtrit

from wardround.measuring.engine.bootstrap import LEVEL
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST, TOO_FEW
from wardround.measuring.engine.sums import Whole
from wardround.measuring.engine.wilson import wilson

BOTH, CASES = "people and cases", "one person: cases only"
ALIKE = "all alike"  # nothing varies, so that nothing tells how far it would
NO_VARIANCE = 1e-18
Ends = tuple[float | None, float | None, str]  # of an interval, and how they were found


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
        return min(self.variance**2 / told if told > 0 else inf, 1e9)

    @property
    def quantile(self) -> float:
        return float(stdtrit(self.freedom, (1 + LEVEL) / 2))

    @property
    def over(self) -> str:
        return BOTH if self.people > 1 else CASES

    @property
    def who(self) -> str:
        return "1 person" if self.people == 1 else f"{self.people} people"


class Figure(NamedTuple):
    """A measure of people with its interval, as measures.csv names its parts."""

    measure: str
    value: float
    low: float | None
    high: float | None
    method: str
    version: str


def numbered(marks: pl.DataFrame) -> tuple[Whole, Whole]:
    """The person and the cluster of each mark, numbered from 0."""
    person, cluster = (marks[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("person", "cluster"))
    return person, cluster


def spread(person: Floats | Whole, cluster: Floats | Whole, value: Floats, part: Whole | None = None) -> Spread:
    """The mean over people of each one's mean, and what it varies by. All are numbered from 0.

    With parts it is the unweighted mean over parts of those means.
    """
    person, cluster = person.astype(np.int64), cluster.astype(np.int64)
    part = np.zeros_like(person) if part is None else part.astype(np.int64)
    people, clusters, parts = (int(each.max()) + 1 for each in (person, cluster, part))
    place, shape = part * people + person, (parts, people)
    asked = np.bincount(place, minlength=parts * people).reshape(shape)
    own = np.bincount(place, value, minlength=parts * people).reshape(shape) / np.maximum(asked, 1)
    there = (asked > 0).sum(axis=1)
    means = own.sum(axis=1) / there
    score = (value - means[part]) / (asked[part, person] * there[part] * parts)  # what one answer adds to the error
    by_person = _squares(score, person) * (people / (people - 1) if people > 1 else 0.0)
    by_cluster = _squares(score, cluster) * (clusters / (clusters - 1) if clusters > 1 else 0.0)
    twice = _squares(score, person * clusters + cluster)
    variance = max(by_person + by_cluster - twice, by_person, by_cluster) if people > 1 else by_cluster
    return Spread(float(means.mean()), by_person, by_cluster, variance, people, clusters)


def _squares(score: Floats, group: Whole) -> float:
    return float((np.bincount(group, score) ** 2).sum())


def score_interval(found: Spread, answers: int) -> Ends:
    """Of a share: the score interval at the effective number of answers."""
    if found.clusters < FEWEST:
        return None, None, TOO_FEW
    noise = found.mean * (1 - found.mean)
    effective = (
        min(noise / found.variance, answers) if found.variance > 0 and noise > 0 else min(answers, found.clusters)
    )
    low, high = wilson(np.array([found.mean]), np.array([float(effective)]), found.quantile)
    return float(low[0]), float(high[0]), found.over


def student_interval(found: Spread, within: tuple[float, float]) -> Ends:
    """Of any other mean: plus and minus t standard errors, within its range."""
    if found.clusters < FEWEST:
        return None, None, TOO_FEW
    if found.variance <= NO_VARIANCE:
        return None, None, ALIKE
    reach = found.quantile * sqrt(found.variance)
    return max(found.mean - reach, within[0]), min(found.mean + reach, within[1]), found.over


def p_of_zero(found: Spread) -> float | None:
    """Two-sided p of a mean of 0 by the same Student's t; none where there is no interval."""
    if found.clusters < FEWEST or found.variance <= NO_VARIANCE:
        return None
    return float(2 * stdtr(found.freedom, -abs(found.mean) / sqrt(found.variance)))
