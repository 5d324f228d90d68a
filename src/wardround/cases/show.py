"""A case as text for the terminal."""

import textwrap
from collections.abc import Iterator

from wardround.core.case import Case, Question
from wardround.core.text import option_letter

WIDTH = 100


def format_case(case: Case) -> str:
    """The whole case, the right answers marked with an asterisk."""
    text = "\n".join(_lines(case))
    # a case may come from anywhere: control characters could move the cursor or recolour the terminal
    return "".join(character for character in text if character == "\n" or character.isprintable())


def _lines(case: Case) -> Iterator[str]:
    yield f"Case {case.id}"
    fields = {
        "specialty": case.specialty,
        "split": case.split,
        "tags": ", ".join(case.tags),
        "cluster": case.cluster,
        "age": case.patient.age if case.patient else None,
        "sex": case.patient.sex if case.patient else None,
        "origin": case.origin.name if case.origin else None,
        "references": ", ".join(reference.pmid for reference in case.references if reference.pmid),
    }
    for name, value in fields.items():
        if value not in (None, ""):
            yield f"  {name}: {value}"
    if case.history:
        yield from ("", "History", _wrapped(case.history))
    if case.findings:
        yield from ("", "Findings", _wrapped(case.findings))
    if case.images:
        yield from ("", "Images")
    for number, image in enumerate(case.images):
        yield f"  {number}  {image.path}" + (f"  ({image.modality})" if image.modality else "")
        if image.findings:
            yield _wrapped(image.findings, 5)
    for name, telling in case.tellings.items():
        yield from ("", f"Telling {name!r}, with images {telling.images or 'none'}")
        if telling.history:
            yield _wrapped(telling.history)
    for question in case.questions:
        yield from _question(question)


def _question(question: Question) -> Iterator[str]:
    labels = [question.kind, question.stage, question.skill, question.grade]
    yield from ("", f"Question {question.id}  ({', '.join(label for label in labels if label)})")
    for message in question.conversation:
        yield _wrapped(f"{message.role}: {message.content}")
    yield _wrapped(question.prompt)
    for number, option in enumerate(question.options or []):
        yield f"  {'*' if number == question.gold else ' '} {option_letter(number)}. {option}"
    if question.kind == "open":
        yield f"  * {question.gold}"
        for other in question.accept:
            yield f"    or {other}"
    for criterion in question.criteria:
        axis = f"  ({criterion.axis})" if criterion.axis else ""
        yield f"  {criterion.points:+g}  {criterion.text}{axis}"


def _wrapped(text: str, indent: int = 2) -> str:
    space = " " * indent
    paragraphs = text.splitlines()
    return "\n".join(
        textwrap.fill(paragraph, WIDTH, initial_indent=space, subsequent_indent=space) for paragraph in paragraphs
    )
