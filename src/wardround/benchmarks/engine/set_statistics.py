"""Facts about a case set: each a small function from its cases to what is told and the text of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from wardround.core.case import Case
from wardround.reporting.numbers import count, number, percent

Fact = Literal[
    "cases",
    "questions",
    "images",
    "chains",
    "sex",
    "age",
    "images_per_case",
    "references_per_case",
    "options",
    "chance",
    "words",
]
Told = list[tuple[str, str]]


def cases(held: Sequence[Case]) -> Told:
    return [("Cases", count(len(held)))]


def questions(held: Sequence[Case]) -> Told:
    kinds = Counter(question.kind for case in held for question in case.questions)
    return [("Questions", count(kinds.total())), *((f"of which {kind}", count(kinds[kind])) for kind in sorted(kinds))]


def images(held: Sequence[Case]) -> Told:
    return [("Images", count(sum(len(case.images) for case in held)))]


def chains(held: Sequence[Case]) -> Told:
    named = {(case.id, question.chain) for case in held for question in case.questions if question.chain}
    return [("Chains", count(len(named)))]


def sex(held: Sequence[Case]) -> Told:
    told = Counter(case.patient.sex for case in held if case.patient and case.patient.sex)
    return [(f"Sex {name}", f"{percent(many / told.total())}%") for name, many in sorted(told.items())]


def age(held: Sequence[Case]) -> Told:
    told = [case.patient.age for case in held if case.patient and case.patient.age is not None]
    return [("Age, mean", _mean(told)), ("Age, range", _range(told))] if told else []


def images_per_case(held: Sequence[Case]) -> Told:
    return [("Images per case, mean", _mean(len(case.images) for case in held))]


def references_per_case(held: Sequence[Case]) -> Told:
    return [("References per case, mean", _mean(len(case.references) for case in held))]


def options(held: Sequence[Case]) -> Told:
    told = _options(held)
    return [("Options per choice, mean", _mean(told)), ("Options per choice, range", _range(told))] if told else []


def chance(held: Sequence[Case]) -> Told:
    """CURE's 21.3% is 1 over the mean number of options; guessing is right at the mean of 1 over it."""
    told = _options(held)
    return [("Right by guessing", f"{percent(sum(1 / many for many in told) / len(told))}%")] if told else []


def words(held: Sequence[Case]) -> Told:
    """Of the history and the prompt, split at spaces: the papers do not say how they count."""
    told = [len(f"{case.history or ''} {question.prompt}".split()) for case in held for question in case.questions]
    return [("Words per question, mean", _mean(told))]


def _options(held: Sequence[Case]) -> list[int]:
    return [len(question.options) for case in held for question in case.questions if question.options]


def _mean(values: Iterable[float]) -> str:
    told = list(values)
    return number(sum(told) / len(told))


def _range(values: Sequence[float]) -> str:
    return f"{min(values):g} to {max(values):g}"


FACTS: dict[Fact, Callable[[Sequence[Case]], Told]] = {
    "cases": cases,
    "questions": questions,
    "images": images,
    "chains": chains,
    "sex": sex,
    "age": age,
    "images_per_case": images_per_case,
    "references_per_case": references_per_case,
    "options": options,
    "chance": chance,
    "words": words,
}
