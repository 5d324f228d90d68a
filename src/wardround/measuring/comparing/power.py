"""Sample size: the number of clusters of cases needed to detect a difference between two candidates."""

from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt

import numpy as np
import polars as pl
import scipy

from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.measuring.comparing.families import SEVERITY, compared_values, families, is_meant, is_paired
from wardround.measuring.comparing.families import pairs as compared_pairs
from wardround.measuring.comparing.pairing import items_by_candidate, pair_sides, side_of
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import measures_for_marks
from wardround.measuring.engine.slices import conditions_at

POWER, ALPHA = 0.8, 0.05


@dataclass(frozen=True)
class SampleSize:
    """The clusters of cases that detect a difference with the target power; `spread` is the SD of their differences.

    A cluster is one case, unless cases name a `cluster` that they share (docs/statistics.md, Clusters).

    The difference is one of `comparisons` that are tested together, at 5% over all of them. Its own level is 5% divided
    by their number; max-T, which the tests use, needs no more clusters.
    """

    clusters: int
    difference: float
    spread: float
    power: float
    pairs: int = 0  # pairs of candidates that the spread comes from
    comparisons: int = 1

    def power_with(self, clusters: int) -> float:
        """The probability of detecting the difference with this number of clusters."""
        return float(
            scipy.special.ndtr(
                self.difference * sqrt(clusters) / self.spread + scipy.special.ndtri(ALPHA / self.comparisons / 2)
            )
        )


def power_from_guesses(
    difference: float,
    accuracy: float = 0.5,
    correlation: float = 0.3,
    questions: int = 1,
    within: float = 0.0,
    power: float = POWER,
    comparisons: int = 1,
) -> SampleSize:
    """Two candidates with accuracies `accuracy` +- difference / 2, asked the same questions once.

    Their answers to a question correlate by `correlation`; the paired differences of the `questions` of a
    cluster correlate by `within`. Normal: n = ((z_(1-alpha/2) + z_power) s / d)^2, alpha = 5% / comparisons.
    """
    low, high = accuracy - difference / 2, accuracy + difference / 2
    if not (0 < difference < 1 and low > 0 and high < 1):
        raise WardroundError(f"a difference of {difference:g} around {accuracy:g} is not between 0 and 1")
    if not (-1 < correlation < 1 and questions >= 1 and 0 <= within <= 1):
        raise WardroundError("expected a correlation within (-1, 1), at least one question, and `within` from 0 to 1")
    first, second = low * (1 - low), high * (1 - high)
    variance = first + second - 2 * correlation * sqrt(first * second)
    spread = sqrt(variance * (1 + (questions - 1) * within) / questions)
    return _needed(difference, spread, power, comparisons=comparisons)


def power_from_marks(
    marks: pl.DataFrame,
    study: Study,
    difference: float,
    measure: str = "accuracy",
    power: float = POWER,
    family: str | None = None,
) -> SampleSize:
    """The same, with the spread per cluster of a run's paired differences: root mean square over candidate pairs.

    All are in the reference condition. The level is that of one comparison of `family`; without a name, of the study's
    family that compares candidates by this measure, if it has one.
    """
    if not 0 < difference < 1:
        raise WardroundError(f"a difference of {difference:g} is not between 0 and 1; write 0.05 for 5 points")
    encoded = encode_marks(marks, study)
    chosen = next((m for m in measures_for_marks(encoded, study) if m.name == measure and is_paired(m)), None)
    if chosen is None:
        raise WardroundError(f"candidates cannot be compared by {measure!r}")
    comparisons = _family_size(study, chosen, family)
    conditions = dict.fromkeys(conditions_at(encoded, study.reference_condition), 0)
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
        raise WardroundError(f"the run has no two candidates that differ on {FEWEST} or more clusters of cases")
    return _needed(difference, float(np.sqrt(np.mean(variances))), power, len(variances), comparisons)


def _family_size(study: Study, measure: Measure, name: str | None) -> int:
    """The number of comparisons that are tested together with one of this measure."""
    declared = families(study)
    if name is not None and name not in declared:
        raise WardroundError(f"there is no family {name!r}; expected one of {', '.join(declared)}")
    own = [f for f in declared.values() if f.between == "candidate" and is_meant(measure, f)]
    chosen = declared[name] if name is not None else next(iter(own), None)
    if chosen is None:
        return 1
    if chosen.between == SEVERITY:
        raise WardroundError("a family between severities is not between candidates; name another one")
    within = 1 if chosen.between == "candidate" else len(study.candidates)
    return within * len(compared_pairs(compared_values(chosen, study), chosen.reference))


def _needed(difference: float, spread: float, power: float, pairs: int = 0, comparisons: int = 1) -> SampleSize:
    if not 0 < power < 1:
        raise WardroundError(f"a power of {power:g} is not between 0 and 1")
    if comparisons < 1:
        raise WardroundError(f"{comparisons} comparisons: expected at least one")
    reach = scipy.special.ndtri(power) - scipy.special.ndtri(ALPHA / comparisons / 2)
    return SampleSize(ceil((reach * spread / difference) ** 2), difference, spread, power, pairs, comparisons)
