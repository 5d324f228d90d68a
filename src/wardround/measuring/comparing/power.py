"""Sample size: the number of clusters of cases needed to detect a difference."""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import polars as pl
import scipy

from wardround.core.errors import WardroundError
from wardround.core.study import Family, Study
from wardround.measuring.comparing.comparisons import declared_comparisons
from wardround.measuring.comparing.families import families, is_meant, is_paired
from wardround.measuring.comparing.pairing import PairedSums
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import measures_for_marks

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
    pairs: int = 0  # comparisons of a run that the spread comes from
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
    """The same, with the spread per cluster of a run's paired differences: root mean square over comparisons.

    They are those of `family`, by its measure and where it compares; without a name, those of the study's family that
    compares candidates by `measure`. If it has none they are all pairs of candidates in the reference condition, and
    the level is that of one comparison.
    """
    if not 0 < difference < 1:
        raise WardroundError(f"a difference of {difference:g} is not between 0 and 1; write 0.05 for 5 points")
    encoded = encode_marks(marks, study)
    declared = families(study)
    if family is not None and family not in declared:
        raise WardroundError(f"there is no family {family!r}; expected one of {', '.join(declared)}")
    wanted = declared[family].measure if family is not None else measure
    meant = [m for m in measures_for_marks(encoded, study) if is_paired(m) and wanted in (m.name, m.base)]
    if not meant:
        raise WardroundError(f"candidates cannot be compared by {wanted!r}")
    of_measure = (f for f in declared.values() if f.between == "candidate" and any(is_meant(m, f) for m in meant))
    chosen = declared[family] if family is not None else next(of_measure, None)
    own = chosen or Family(measure=wanted, between="candidate")
    compared = declared_comparisons(encoded, study.model_copy(update={"comparisons": {"own": own}}))
    paired, together = next(
        (
            ([(m, c.paired) for c in comparisons if c.paired is not None], len(comparisons))
            for _, m, comparisons in compared
        ),
        ([], 0),
    )
    variances = [_variance(m, sums) for m, sums in paired if len(sums.cluster) >= FEWEST]
    if not variances or not max(variances):
        raise WardroundError(f"the run has no two sides to compare that differ on {FEWEST} or more clusters of cases")
    spread = float(np.sqrt(np.mean(variances)))
    return _needed(difference, spread, power, len(variances), together if chosen is not None else 1)


def _variance(measure: Measure, paired: PairedSums) -> float:
    """Of the differences of clusters, for the mean over all that they share."""
    differences, size = paired.differences(measure), paired.sizes(measure)
    residual = (differences - differences.sum() / size.sum() * size) / size.mean()
    return float((residual**2).sum() / (len(residual) - 1))


def _needed(difference: float, spread: float, power: float, pairs: int = 0, comparisons: int = 1) -> SampleSize:
    if not 0 < power < 1:
        raise WardroundError(f"a power of {power:g} is not between 0 and 1")
    if comparisons < 1:
        raise WardroundError(f"{comparisons} comparisons: expected at least one")
    reach = scipy.special.ndtri(power) - scipy.special.ndtri(ALPHA / comparisons / 2)
    return SampleSize(ceil((reach * spread / difference) ** 2), difference, spread, power, pairs, comparisons)
