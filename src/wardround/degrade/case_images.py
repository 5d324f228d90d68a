"""Cases whose degraded questions have their images stored: each names the copies that it shows.

A clean question gets a degraded twin for each degradation of its images. Where a set has degradations assigned to
questions of its own, these questions get the copies instead, and no twins are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wardround.core.case import Case, Image, Question, Telling
from wardround.degrade.severities import LEVELS, severity_number
from wardround.degrade.types import TYPES, fits, type_named

Degradation = tuple[str, float]  # type and severity
Numbers = dict[tuple[int, Degradation], int]  # of a case's images: the copy of an image by a degradation
Stored = Callable[[Image, Degradation], str | None]  # the path of the copy of an image, if there is one


def level_of(severity: float) -> str:
    """L1, L2, or the number between."""
    return next((name for name, number in LEVELS.items() if number == severity), f"{severity:g}")


def named(degradation: Degradation) -> str:
    """As cases and studies write it: `sparse_view@L1`."""
    return f"{degradation[0]}@{level_of(degradation[1])}"


def in_table_order(degradations: Iterable[Degradation]) -> list[Degradation]:
    """In the order of the 18 types, and by severity."""
    return sorted(degradations, key=lambda each: (TYPES.index(each[0]), each[1]))


def assigned(question: Question) -> Degradation | None:
    """The one degradation that a question is assigned; None where it has none, several, or a real one."""
    if len(question.degradations) != 1 or question.degradations[0].startswith("real@"):
        return None
    type, _, severity = question.degradations[0].partition("@")
    return type_named(type), severity_number(severity)


def wanted_of(case: Case, choice: Sequence[Degradation] | None) -> dict[int, list[Degradation]]:
    """Which degradations are wanted of each image of a case, by its number; `choice` None: those assigned."""
    wanted: dict[int, list[Degradation]] = {}
    for question in case.questions:
        if choice is None:
            own = assigned(question)
            offered = [own] if own is not None else []
        else:
            offered = list(choice) if _is_clean(question) else []
        for number in _clean_images(case, question):
            fitting = [each for each in offered if each[1] > 0 and fits(each[0], case.images[number].modality)]
            wanted[number] = in_table_order({*wanted.get(number, ()), *fitting})
    return {number: each for number, each in wanted.items() if each}


def with_stored(case: Case, choice: Sequence[Degradation] | None, stored: Stored) -> Case:
    """The case with its degraded images after its own, and the questions that show them.

    A question whose degradation has no copy is left out: it would be asked with a clean image and count as degraded.
    """
    images = list(case.images)
    numbers: Numbers = {}
    for number, degradations in wanted_of(case, choice).items():
        for degradation in degradations:
            if (path := stored(case.images[number], degradation)) is not None:
                numbers[number, degradation] = len(images)
                images.append(_copied(case.images[number], path, named(degradation)))
    questions: list[Question] = []
    for question in case.questions:
        shown = question.images if question.images is not None else list(range(len(case.images)))
        if choice is None and needs_copy(case, question):
            own = assigned(question)
            copies = _replaced(shown, own, numbers) if own else shown
            if copies != shown:
                questions.append(question.model_copy(update={"images": copies}))
        else:
            questions.append(question.model_copy(update={"images": shown}) if numbers else question)
    for degradation in choice or ():
        questions += _twins(case, degradation, numbers)
    tellings = {name: _telling_with(telling, numbers) for name, telling in case.tellings.items()}
    update = {"images": images, "questions": _standing(questions)} | ({"tellings": tellings} if tellings else {})
    return case.model_copy(update=update)


def needs_copy(case: Case, question: Question) -> bool:
    """Whether a question is to be asked with degraded images that are not stored yet."""
    told = [each for each in question.degradations if not each.startswith("real@")]
    return any(severity_number(each.partition("@")[2]) > 0 for each in told) and bool(_clean_images(case, question))


def _standing(questions: list[Question]) -> list[Question]:
    """Those whose earlier questions and clean twins are there too."""
    ids = {question.id for question in questions}
    kept = [
        question for question in questions if ids.issuperset(question.given) and (question.of or question.id) in ids
    ]
    return kept if len(kept) == len(questions) else _standing(kept)


def _twins(case: Case, degradation: Degradation, numbers: Numbers) -> Iterable[Question]:
    """A degraded twin of each clean question that shows an image with such a copy; chains become chains of twins."""
    ending = f".{degradation[0]}.{level_of(degradation[1])}"
    twinned = [
        question
        for question in case.questions
        if _is_clean(question) and any((number, degradation) in numbers for number in _clean_images(case, question))
    ]
    ids = {question.id for question in twinned}
    there = {question.id for question in case.questions}
    for question in (each for each in twinned if each.id + ending not in there):
        chained: dict[str, Any] = {}
        if question.chain is not None:
            chained["chain"] = question.chain + ending
        if question.given:
            chained["given"] = [given + ending if given in ids else given for given in question.given]
        yield question.model_copy(
            update={
                "id": question.id + ending,
                "of": question.id,
                "degradations": [named(degradation)],
                "images": _replaced(_clean_images(case, question), degradation, numbers),
                **chained,
            }
        )


def _is_clean(question: Question) -> bool:
    return question.of is None and not question.degradations


def _clean_images(case: Case, question: Question) -> list[int]:
    """The images that a question shows, by number, if none of them is degraded already."""
    shown = question.images if question.images is not None else list(range(len(case.images)))
    return [] if any(case.images[number].degradations for number in shown) else shown


def _replaced(shown: list[int], degradation: Degradation, numbers: Numbers) -> list[int]:
    return [numbers.get((number, degradation), number) for number in shown]


def _copied(image: Image, path: str, degradation: str) -> Image:
    """The stored copy: its window and its place in a volume are those of the file that it was made of."""
    fields = image.model_dump(exclude_unset=True, exclude={"frame", "axis", "window"})
    return Image.model_validate({**fields, "path": path, "degradations": (degradation,)})


def _telling_with(telling: Telling, numbers: Numbers) -> Telling:
    if telling.images is None:
        return telling
    added = [copy for (number, _), copy in numbers.items() if number in telling.images]
    return telling.model_copy(update={"images": [*telling.images, *added]})
