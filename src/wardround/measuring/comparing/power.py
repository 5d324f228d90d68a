"""Sample size: the number of cases needed to detect a difference between two candidates."""

from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.comparing.pairing import items_by_candidate, pair_sides, side_of
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.measurement import measures_for_marks

POWER, ALPHA = 0.8, 0.05
FEWEST = 8  # clusters


@dataclass(frozen=True)
class SampleSize:
    """The cases (clusters) that detect a difference with the target power; `spread`: the SD of differences per case."""

    cases: int
    difference: float
    spread: float
    power: float
    pairs: int = 0  # pairs of candidates that the spread comes from

    def power_with(self, cases: int) -> float:
        """The probability of detecting the difference with this number of cases."""
        return float(ndtr(self.difference * sqrt(cases) / self.spread + ndtri(ALPHA / 2)))


def power_from_guesses(
    difference: float,
    accuracy: float = 0.5,
    correlation: float = 0.3,
    questions: int = 1,
    within: float = 0.0,
    power: float = POWER,
) -> SampleSize:
    """Two candidates with accuracies `accuracy` +- difference / 2, asked the same questions once.

    Their answers to a question correlate by `correlation`; the paired differences of the `questions` of a
    case correlate by `within`. Normal: n = ((z_(1-alpha/2) + z_power) s / d)^2.
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
) -> SampleSize:
    """The same, with the spread per cluster of a run's paired differences: root mean square over candidate pairs."""
    if not 0 < difference < 1:
        raise WardroundError(f"a difference of {difference:g} is not between 0 and 1")
    encoded = encode_marks(marks, study)
    chosen = next((m for m in measures_for_marks(encoded, study) if m.name == measure and is_paired(m)), None)
    if chosen is None:
        raise WardroundError(f"candidates cannot be compared by {measure!r}")
    conditions = {number: number for number in range(len(encoded.conditions))}
    by_candidate = items_by_candidate(encoded, [chosen], study.trials)
    sides = [side_of(own, conditions) for own in by_candidate.values()]
    variances = []
    for a, b in combinations(sides, 2):
        paired = pair_sides(a, b, chosen, study.trials, encoded)
        if len(paired.cluster) < FEWEST:
            continue
        differences, size = paired.differences(chosen), (paired.sums[:, 1] + paired.sums[:, 3]) / 2
        mean = differences.sum() / size.sum()
        residual = (differences - mean * size) / size.mean()
        variances.append(float((residual**2).sum() / (len(residual) - 1)))
    if not variances or not max(variances):
        raise WardroundError(f"the run has no two candidates that differ on {FEWEST} or more cases")
    return _needed(difference, float(np.sqrt(np.mean(variances))), power, len(variances))


def _needed(difference: float, spread: float, power: float, pairs: int = 0) -> SampleSize:
    if not 0 < power < 1:
        raise WardroundError(f"a power of {power:g} is not between 0 and 1")
    reach = ndtri(power) - ndtri(ALPHA / 2)
    return SampleSize(ceil((reach * spread / difference) ** 2), difference, spread, power, pairs)
