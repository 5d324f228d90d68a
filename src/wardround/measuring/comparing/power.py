"""How many cases are needed to see a difference between two candidates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.comparing.pairing import pair, side
from wardround.measuring.engine.encode import coded
from wardround.measuring.engine.items import items
from wardround.measuring.engine.measurement import defined_for

POWER, ALPHA = 0.8, 0.05
FEWEST = 8  # clusters without which no spread is told


@dataclass(frozen=True)
class Needed:
    """So many cases (clusters) show a difference d with the given power; `spread` is that of differences per case."""

    cases: int
    difference: float
    spread: float
    power: float
    pairs: int = 0  # pairs of candidates from which the spread was taken

    def power_of(self, cases: int) -> float:
        """The chance to see the difference with so many cases."""
        return float(ndtr(self.difference * sqrt(cases) / self.spread + ndtri(ALPHA / 2)))


def power_from_guesses(
    difference: float,
    accuracy: float = 0.5,
    correlation: float = 0.3,
    questions: int = 1,
    within: float = 0.0,
    power: float = POWER,
) -> Needed:
    """Two candidates with accuracies `accuracy` +- difference / 2, asked the same questions once.

    Their answers to a question correlate by `correlation`; a case has so many questions, whose paired
    differences correlate by `within`. Normal: n = ((z_(1-alpha/2) + z_power) s / d)^2.
    """
    low, high = accuracy - difference / 2, accuracy + difference / 2
    if not (0 < difference < 1 and low > 0 and high < 1):
        raise WardroundError(f"a difference of {difference:g} around {accuracy:g} is not between 0 and 1")
    if not (-1 < correlation < 1 and questions >= 1 and 0 <= within <= 1):
        raise WardroundError("expected a correlation within (-1, 1), at least one question, and `within` from 0 to 1")
    first, second = low * (1 - low), high * (1 - high)
    variance = first + second - 2 * correlation * sqrt(first * second)
    return _needed(difference, sqrt(variance * (1 + (questions - 1) * within) / questions), power)


def power_from_marks(
    marks: pl.DataFrame, study: Study, difference: float, measure: str = "accuracy", power: float = POWER
) -> Needed:
    """The same from a run: its spread of paired differences per cluster, root mean square over pairs of candidates."""
    if not 0 < difference < 1:
        raise WardroundError(f"a difference of {difference:g} is not between 0 and 1")
    numbers = coded(marks, study)
    defined = next((m for m in defined_for(numbers, study) if m.name == measure and is_paired(m)), None)
    if defined is None:
        raise WardroundError(f"no two candidates can be compared by {measure!r}")
    every = {number: number for number in range(len(numbers.conditions))}
    names = sorted({*defined.sums, defined.n, "shared"})
    sides = []
    for number in range(len(numbers.candidates)):
        own = numbers.of(number, number)
        sides.append(side(own, items(own, study.trials, numbers).frame(names), every))
    variances = []
    for a, b in combinations(sides, 2):
        paired = pair(a, b, defined, study.trials, numbers)
        if len(paired.cluster) < FEWEST:
            continue
        differences, size = paired.differences(defined), (paired.sums[:, 1] + paired.sums[:, 3]) / 2
        mean = differences.sum() / size.sum()
        residual = (differences - mean * size) / size.mean()
        variances.append(float((residual**2).sum() / (len(residual) - 1)))
    if not variances or not max(variances):
        raise WardroundError(f"the run has no two candidates that differ on {FEWEST} or more cases")
    return _needed(difference, float(np.sqrt(np.mean(variances))), power, len(variances))


def _needed(difference: float, spread: float, power: float, pairs: int = 0) -> Needed:
    if not 0 < power < 1:
        raise WardroundError(f"a power of {power:g} is not between 0 and 1")
    reach = ndtri(power) - ndtri(ALPHA / 2)
    return Needed(ceil((reach * spread / difference) ** 2), difference, spread, power, pairs)
