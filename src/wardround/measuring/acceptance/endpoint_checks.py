"""Refuses endpoints that could not be decided, before anything is spent: by the study alone, then with its cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from wardround.asking.units import select_questions
from wardround.core.case import Case, Question
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.core.study_tables.endpoint import PEOPLE, Endpoint
from wardround.marking.slice_values import slice_values
from wardround.measuring.acceptance.verdicts import limits_of
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measure import Measure, MeasureKind, from_any_source
from wardround.measuring.engine.slices import SUBJECT_KEYS
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.record import MeasureContext
from wardround.measuring.people.against_models import COMPARED
from wardround.running.plan import TRAINING

WHOLE = ("", "")  # the group of all cases
UNTESTED = (MeasureKind.DERIVED, MeasureKind.REFERENCE, MeasureKind.CONDITION)
_CHOICE_SUMS = (
    "choice|elected|voted|shared|verbal|certain_all|claims_.*|(claims|uas_weight):(votes|inf|verbal)|chains|harm_of"
    "|benefit_of|positive"
)


class Need(NamedTuple):
    """What must be asked for measures that require some sums (a pattern of their names)."""

    sums: str
    words: str
    is_met: Callable[[Question, Mapping[str, str]], bool]  # by a question, asked under these values of the axes


NEEDS = (
    Need(_CHOICE_SUMS, "choice questions", lambda question, values: question.kind == "choice"),
    Need("rubric|axis_of:.*", "rubric questions", lambda question, values: question.kind == "rubric"),
    Need("open|judged|.*verbal_open", "open questions", lambda question, values: question.kind == "open"),
    Need(".*verbal.*", 'confidence = "verbal"', lambda question, values: values["confidence"] == "verbal"),
    Need("shared|.*[:_]inf", 'confidence = "logprobs"', lambda question, values: values["confidence"] == "logprobs"),
    Need("grounding_of|covered_of|searches", "evidence", lambda question, values: values["evidence"] != "none"),
    Need("harm_of", "questions with an importance", lambda question, values: question.importance is not None),
    Need("chains", "questions in chains", lambda question, values: question.chain is not None),
    Need("texts_.*|rouge_l_of|eds_of", "a probe", lambda question, values: values["probe"] != "none"),
)


def check_endpoints(study: Study) -> None:
    """Refuses endpoints that no answers could decide."""
    measures = testable_measures(define_measures(MeasureContext(study.trials)))
    for name, endpoint in study.acceptance.items():
        key, against = f"acceptance.{name}", tested_against(study, endpoint, f"acceptance.{name}")
        paired = [m.name for m in measures if not isinstance(against, str) or is_paired(m)]
        known = list(COMPARED) if against in people_of(study) else list(dict.fromkeys(paired))
        names = from_any_source(endpoint.measure)
        if not set(names) & set(known):
            expected = ", ".join(known)
            raise WardroundError(f"{key}: {endpoint.measure!r} cannot be tested; expected one of {expected}")
        if not any(candidate.name not in (against, *people_of(study)) for candidate in study.candidates):
            raise WardroundError(f"{key}: the study has no model besides {against!r}; add one to [[candidates]]")
        _check_limits(key, endpoint, [m for m in measures if m.name in names])
        senseless = {group for m in measures if m.name in names for group in m.never_by}
        for group in endpoint.groups:
            if group not in SUBJECT_KEYS:
                expected = ", ".join(SUBJECT_KEYS)
                raise WardroundError(f"{key}: unknown group {group!r}; expected some of {expected}")
            if group in senseless:
                raise WardroundError(f"{key}: {endpoint.measure} has no meaning by {group}")


def check_endpoint_cases(study: Study, cases: Iterable[Case]) -> None:
    """Refuses endpoints that the cases of a study could not decide: nothing to measure, or too few clusters."""
    measures = testable_measures(define_measures(MeasureContext(study.trials))) if study.acceptance else []
    for name, endpoint in study.acceptance.items():
        own = [measure for measure in measures if measure.name in from_any_source(endpoint.measure)]
        _check_cases(f"acceptance.{name}", study, endpoint, own, cases)


def testable_measures(measures: Iterable[Measure]) -> list[Measure]:
    return [measure for measure in measures if measure.kind not in UNTESTED and not measure.only_by]


def tested_against(study: Study, endpoint: Endpoint, key: str) -> str | float:
    """The candidate or the number that an endpoint is tested against."""
    reference = endpoint.reference
    if not isinstance(reference, str):
        return reference
    if reference == PEOPLE and len(people := people_of(study)) == 1:
        return people[0]
    names = [candidate.name for candidate in study.candidates]
    if reference not in names:
        raise WardroundError(f"{key}: against = {reference!r}; expected a number, people or one of {', '.join(names)}")
    return reference


def people_of(study: Study) -> list[str]:
    return [candidate.name for candidate in study.candidates if candidate.provider == "people"]


def _check_limits(key: str, endpoint: Endpoint, measures: Sequence[Measure]) -> None:
    """Refuses a number that the measure cannot reach, such as a percentage, and limits that all or no values meet."""
    number = endpoint.reference
    for measure in measures:
        low, high = (-1.0, 1.0) if measure.kind is MeasureKind.SIGNED else measure.bounds
        figure = measure.name
        if isinstance(number, str):
            low, high, figure = low - high, high - low, f"a difference in {measure.name}"
        elif not low <= number <= high:
            raise WardroundError(f"{key}: {figure} lies between {low:g} and {high:g}, so it is never {number:g}")
        above, below = limits_of(endpoint, measure.base)
        limits = " and ".join(f"{side} {x:g}" for side, x in (("above", above), ("below", below)) if x is not None)
        if (above is not None and above >= high) or (below is not None and below <= low):
            problem = f"{figure} lies between {low:g} and {high:g}, so it is never {limits}: no candidate could pass"
            raise WardroundError(f"{key}: {problem}")
        if (above is None or above < low) and (below is None or below > high):
            problem = (
                f"{figure} lies between {low:g} and {high:g}, so it is always {limits}: every candidate would pass"
            )
            raise WardroundError(f"{key}: {problem}; make the margin smaller")


def _check_cases(
    key: str, study: Study, endpoint: Endpoint, measures: Sequence[Measure], cases: Iterable[Case]
) -> None:
    tested = study.reference_condition | endpoint.where
    values = next(c.values for c in study.all_conditions if tested.items() <= c.values.items())
    needs = [[need for need in NEEDS if re.fullmatch(need.sums, measure.required_sum)] for measure in measures]
    clusters: dict[tuple[str, str], set[str]] = {}  # by group: its key and value
    for case in (case for case in cases if case.split != TRAINING):
        for question in select_questions(case, study):
            if any(all(need.is_met(question, values) for need in own) for own in needs):
                for group in (WHOLE, *_groups(case, question, endpoint.groups)):
                    clusters.setdefault(group, set()).add(case.cluster_id)
    if not clusters:
        where = " with " + ", ".join(f"{axis} = {value!r}" for axis, value in tested.items()) if tested else ""
        words = [" and ".join(need.words for need in own) or "questions" for own in needs]
        if endpoint.measure not in {measure.name for measure in measures}:  # of votes
            words.append("several trials")
        expected = ", or ".join(dict.fromkeys(words))
        raise WardroundError(f"{key}: nothing is asked{where} that {endpoint.measure} measures; it needs {expected}")
    stated = {key for key, _ in clusters}
    if unstated := [key for key in endpoint.groups if key not in stated]:
        raise WardroundError(f"{key}: no case that is asked states {unstated[0]!r}; take it out of `groups`")
    smallest = min(clusters, key=lambda group: len(clusters[group]))
    if (size := len(clusters[smallest])) < FEWEST:
        part = "the study" if smallest == WHOLE else f"the group {smallest[0]} = {smallest[1]!r}"
        problem = f"{part} has {size} {'cluster' if size == 1 else 'clusters'} of such cases, too few to decide"
        raise WardroundError(f"{key}: {problem}; expected at least {FEWEST}: add cases or change `groups`")


def _groups(case: Case, question: Question, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The groups of these keys that a question is in; of modalities and tags there may be several."""
    values = slice_values(case, question)
    for key in keys:
        own = values[key] if isinstance(values[key], list) else [values[key]]
        yield from ((key, value) for value in own if value)
