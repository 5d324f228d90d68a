"""The texts of a case that a candidate may be shown, by field, and the names of its answers."""

from collections.abc import Iterator

from wardround.core.case import Case, Question
from wardround.core.names import Synonyms, same_name

Field = tuple[str, str]  # its name and its text


def shown_fields(case: Case) -> Iterator[Field]:
    """The texts that every question of the case may show."""
    fields = [
        ("history", case.history),
        ("findings", case.findings),
        *((f"images[{index}].findings", image.findings) for index, image in enumerate(case.images)),
        *((f"tellings.{name}.history", telling.history) for name, telling in case.tellings.items()),
    ]
    return ((field, text) for field, text in fields if text)


def shown_prompts(case: Case, question: Question) -> Iterator[Field]:
    """The prompt of a question, and those of the questions that it follows in a chain."""
    prompts = {other.id: other.prompt for other in case.questions}
    yield "prompt", question.prompt
    yield from ((f"prompt of {id}", prompts[id]) for id in question.given)


def clean_questions(case: Case) -> Iterator[Question]:
    """The questions without degraded twins, which repeat their clean twin."""
    return (question for question in case.questions if question.of is None)


def answer_text(question: Question) -> str:
    return question.choices[question.gold] if isinstance(question.gold, int) else question.gold


def wrong_options(question: Question) -> list[str]:
    """The options that are wrong; none of an open question."""
    return [option for index, option in enumerate(question.options or []) if index != question.gold]


def answer_names(case: Case, question: Question, synonyms: Synonyms) -> list[str]:
    """The answer, its synonyms, and those that another question of the case gives to the same answer."""
    if question.kind == "rubric":
        return []
    names = [answer_text(question), *question.accept]
    for other in case.questions:
        if other.accept and other is not question and same_name(names[0], answer_text(other)):
            names += [answer_text(other), *other.accept]
    return list(dict.fromkeys(synonym for name in names for synonym in synonyms.names_of(name)))
