"""Families of comparisons, as a study declares them before the run."""

from collections.abc import Sequence
from itertools import combinations

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.errors import WardroundError
from wardround.core.study import Family, Study
from wardround.measuring.engine.known_sums import RANKED
from wardround.measuring.engine.measure import Measure
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.record import MeasureContext

SEVERITY = "severity"  # each degraded record with its own L0, within each candidate
NOT_DECLARED = "default (not declared)"
PEOPLE = "models and people"  # prefix of the families that are added if people are candidates


def families(study: Study) -> dict[str, Family]:
    """The study's families, checked; without any, accuracy between candidates."""
    measures = define_measures(MeasureContext(study.trials))
    known = list(
        dict.fromkeys(name for measure in measures if is_paired(measure) for name in (measure.base, measure.name))
    )
    for name, family in study.comparisons.items():
        _check(name, family, study, known)
    if study.comparisons:
        return study.comparisons
    return {NOT_DECLARED: Family(measure="accuracy", between="candidate")}


def is_paired(measure: Measure) -> bool:
    """Whether two sides can be compared by it: a mean over items, so that clusters add up."""
    return (
        measure.kind.is_mean
        and not measure.is_companion
        and not measure.only_by
        and not measure.sums[0].startswith(RANKED)
    )


def is_meant(measure: Measure, family: Family) -> bool:
    """Whether a family is about this measure: by its own name, or by that of the measure that it is a variant of."""
    return family.measure in (measure.name, measure.base)


def _check(name: str, family: Family, study: Study, known: Sequence[str]) -> None:
    if family.measure not in known:
        raise WardroundError(
            f"comparisons.{name}: unknown measure {family.measure!r}; expected one of {', '.join(known)}"
        )
    if family.between not in ("candidate", SEVERITY, *study.conditions):
        choices = ", ".join(["candidate", SEVERITY, *study.conditions])
        raise WardroundError(f"comparisons.{name}: between = {family.between!r}: expected one of {choices}")
    if family.between in family.where:
        raise WardroundError(f"comparisons.{name}: `where` names {family.between!r}, which is compared")
    values = compared_values(family, study)
    if family.between in study.conditions and len(values) < 2:
        raise WardroundError(f"comparisons.{name}: the study has only one value of {family.between!r}")
    if family.reference is not None and family.reference not in values:
        raise WardroundError(
            f"comparisons.{name}: reference = {family.reference!r}: expected one of {', '.join(values)}"
        )


def compared_values(family: Family, study: Study) -> list[str]:
    """What a family compares: the study's candidates, or the values of an axis, in its order; severities with L0."""
    if family.between == SEVERITY:
        return [CLEAN_LEVEL]
    if family.between == "candidate":
        return [candidate.name for candidate in study.candidates]
    return study.conditions[family.between]


def pairs(values: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Every value against the reference, or all pairs."""
    if reference is None:
        return list(combinations(values, 2))
    return [(value, reference) for value in values if value != reference]
