"""What of a case a candidate may be shown, field by field, and under which names its answers go."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.core.case import Case, Question
from wardround.marking.judges.lexical_judge import Synonyms, same_name

Field = tuple[str, str]  # its name and its text


def shown_fields(case: Case) -> Iterator[Field]:
    """What every question of the case may show."""
    told = [
        ("history", case.history),
        ("findings", case.findings),
        *((f"images[{place}].findings", image.findings) for place, image in enumerate(case.images)),
        *((f"tellings.{name}.history", telling.history) for name, telling in case.tellings.items()),
    ]
    return ((field, text) for field, text in told if text)


def shown_prompts(case: Case, question: Question) -> Iterator[Field]:
    """The prompt of a question, and those of the questions that it follows in a chain."""
    prompts = {each.id: each.prompt for each in case.questions}
    yield "prompt", question.prompt
    yield from ((f"prompt of {id}", prompts[id]) for id in question.given)


def asked_once(case: Case) -> Iterator[Question]:
    """Its questions without degraded twins, which repeat what their clean twin asks."""
    return (question for question in case.questions if question.of is None)


def answer(question: Question) -> str:
    return question.choices[question.gold] if isinstance(question.gold, int) else question.gold


def names_of_answer(case: Case, question: Question, synonyms: Synonyms) -> list[str]:
    """The answer, its synonyms, and those that another question of the case gives to the same answer."""
    names = [answer(question), *question.accept]
    for other in case.questions:
        if other.accept and other is not question and same_name(names[0], answer(other)):
            names += [answer(other), *other.accept]
    return list(dict.fromkeys(name for each in names for name in synonyms.of(each)))
