"""Variance of a mean over people, from sampling people and cases.

Every person has the same weight. The variance is that of sampling people plus that of sampling clusters of cases, minus
the noise of single answers, which both contain: a bootstrap that draws both at once would count that noise three
times. The t quantile uses Satterthwaite's degrees of freedom. With one person it is over cases only.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST, TOO_FEW
from wardround.measuring.engine.resampling.percentiles import LEVEL
from wardround.measuring.engine.sums import Integers
from wardround.measuring.engine.wilson import wilson

BOTH, CASES = "people and cases", "one person: cases only"
ALIKE = "all alike"  # nothing varies: no variance can be estimated
NO_VARIANCE = 1e-18
Ends = tuple[float | None, float | None, str]  # of an interval, and its method


class PeopleMean(NamedTuple):
    """A mean over people, its variance from sampling people, cases and both, and their numbers."""

    mean: float
    by_person: float
    by_cluster: float
    variance: float
    people: int
    clusters: int

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom."""
        rest = max(self.variance - self.by_person, 0.0)
        total = self.by_person**2 / (self.people - 1) if self.people > 1 else 0.0
        total += rest**2 / (self.clusters - 1) if self.clusters > 1 else 0.0
        return min(self.variance**2 / total if total > 0 else inf, 1e9)

    @property
    def quantile(self) -> float:
        return float(scipy.special.stdtrit(self.freedom, (1 + LEVEL) / 2))

    @property
    def over(self) -> str:
        return BOTH if self.people > 1 else CASES

    @property
    def who(self) -> str:
        return "1 person" if self.people == 1 else f"{self.people} people"


class PeopleEstimate(NamedTuple):
    """A measure of people with its interval; the fields are columns of measures.csv."""

    measure: str
    value: float
    low: float | None
    high: float | None
    method: str
    version: str | None = None


def numbered(marks: pl.DataFrame) -> tuple[Integers, Integers]:
    """The person and the cluster of each mark, numbered from 0."""
    person, cluster = (marks[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("person", "cluster"))
    return person, cluster


def mean_over_people(
    person: Floats | Integers, cluster: Floats | Integers, value: Floats, part: Integers | None = None
) -> PeopleMean:
    """The mean over people of each person's mean, with its variance. All are numbered from 0.

    With parts it is the unweighted mean over parts of those means.
    """
    person, cluster = person.astype(np.int64), cluster.astype(np.int64)
    part = np.zeros_like(person) if part is None else part.astype(np.int64)
    people, clusters, parts = (int(number.max()) + 1 for number in (person, cluster, part))
    place, shape = part * people + person, (parts, people)
    asked = np.bincount(place, minlength=parts * people).reshape(shape)
    own = np.bincount(place, value, minlength=parts * people).reshape(shape) / np.maximum(asked, 1)
    answering = (asked > 0).sum(axis=1)
    means = own.sum(axis=1) / answering
    score = (value - means[part]) / (
        asked[part, person] * answering[part] * parts
    )  # contribution of one answer to the error
    by_person = _squares(score, person) * (people / (people - 1) if people > 1 else 0.0)
    by_cluster = _squares(score, cluster) * (clusters / (clusters - 1) if clusters > 1 else 0.0)
    twice = _squares(score, person * clusters + cluster)
    variance = max(by_person + by_cluster - twice, by_person, by_cluster) if people > 1 else by_cluster
    return PeopleMean(float(means.mean()), by_person, by_cluster, variance, people, clusters)


def _squares(score: Floats, group: Integers) -> float:
    return float((np.bincount(group, score) ** 2).sum())


def score_interval(mean: PeopleMean, answers: int) -> Ends:
    """The score interval of a share at the effective number of answers."""
    if mean.clusters < FEWEST:
        return None, None, TOO_FEW
    noise = mean.mean * (1 - mean.mean)
    effective = min(noise / mean.variance, answers) if mean.variance > 0 and noise > 0 else min(answers, mean.clusters)
    low, high = wilson(np.array([mean.mean]), np.array([float(effective)]), mean.quantile)
    return float(low[0]), float(high[0]), mean.over


def student_interval(mean: PeopleMean, bounds: tuple[float, float]) -> Ends:
    """The interval of any other mean: plus and minus t standard errors, within its bounds."""
    if mean.clusters < FEWEST:
        return None, None, TOO_FEW
    if mean.variance <= NO_VARIANCE:
        return None, None, ALIKE
    reach = mean.quantile * sqrt(mean.variance)
    return max(mean.mean - reach, bounds[0]), min(mean.mean + reach, bounds[1]), mean.over


def p_of_zero(mean: PeopleMean) -> float | None:
    """Two-sided p of a mean of 0 by the same Student's t; None if there is no interval."""
    if mean.clusters < FEWEST or mean.variance <= NO_VARIANCE:
        return None
    return float(2 * scipy.special.stdtr(mean.freedom, -abs(mean.mean) / sqrt(mean.variance)))
