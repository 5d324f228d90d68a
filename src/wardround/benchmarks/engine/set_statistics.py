"""Statistics of a case set: each a function from its cases to labels and formatted values."""

from collections import Counter
from collections.abc import Iterable, Sequence
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
Statistics = list[tuple[str, str]]  # label and formatted value


def cases(all_cases: Sequence[Case]) -> Statistics:
    return [("Cases", count(len(all_cases)))]


def questions(all_cases: Sequence[Case]) -> Statistics:
    kinds = Counter(question.kind for case in all_cases for question in case.questions)
    return [("Questions", count(kinds.total())), *((f"of which {kind}", count(kinds[kind])) for kind in sorted(kinds))]


def images(all_cases: Sequence[Case]) -> Statistics:
    return [("Images", count(sum(len(case.images) for case in all_cases)))]


def chains(all_cases: Sequence[Case]) -> Statistics:
    chain_ids = {(case.id, question.chain) for case in all_cases for question in case.questions if question.chain}
    return [("Chains", count(len(chain_ids)))]


def sex(all_cases: Sequence[Case]) -> Statistics:
    counts = Counter(case.patient.sex for case in all_cases if case.patient and case.patient.sex)
    return [(f"Sex {name}", f"{percent(n / counts.total())}%") for name, n in sorted(counts.items())]


def age(all_cases: Sequence[Case]) -> Statistics:
    ages = [case.patient.age for case in all_cases if case.patient and case.patient.age is not None]
    return [("Age, mean", _mean(ages)), ("Age, range", _range(ages))] if ages else []


def images_per_case(all_cases: Sequence[Case]) -> Statistics:
    return [("Images per case, mean", _mean(len(case.images) for case in all_cases))]


def references_per_case(all_cases: Sequence[Case]) -> Statistics:
    return [("References per case, mean", _mean(len(case.references) for case in all_cases))]


def options(all_cases: Sequence[Case]) -> Statistics:
    counts = _option_counts(all_cases)
    return (
        [("Options per choice, mean", _mean(counts)), ("Options per choice, range", _range(counts))] if counts else []
    )


def chance(all_cases: Sequence[Case]) -> Statistics:
    """The mean of 1 over the number of options. CURE's 21.3% is 1 over the mean number of options."""
    counts = _option_counts(all_cases)
    return [("Right by guessing", f"{percent(sum(1 / n for n in counts) / len(counts))}%")] if counts else []


def words(all_cases: Sequence[Case]) -> Statistics:
    """Words of history and prompt, split at spaces: the papers do not say how they count."""
    lengths = [
        len(f"{case.history or ''} {question.prompt}".split()) for case in all_cases for question in case.questions
    ]
    return [("Words per question, mean", _mean(lengths))]


def _option_counts(all_cases: Sequence[Case]) -> list[int]:
    return [len(question.options) for case in all_cases for question in case.questions if question.options]


def _mean(values: Iterable[float]) -> str:
    numbers = list(values)
    return number(sum(numbers) / len(numbers))


def _range(values: Sequence[float]) -> str:
    return f"{min(values):g} to {max(values):g}"


_STATISTICS = (cases, questions, images, chains, sex, age, images_per_case, references_per_case, options, chance, words)
FACTS = {statistic.__name__: statistic for statistic in _STATISTICS}
