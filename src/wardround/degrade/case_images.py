"""Case sets with stored degraded images: questions that show the copies.

A clean question gets a degraded twin for each degradation of its images. If questions of a set have degradations
assigned, these questions show the copies instead, and no twins are made.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wardround.core.case import Case, Image, Question, Telling
from wardround.degrade.severities import LEVELS, parse_severity
from wardround.degrade.types import fits, parse_type, table_position

Degradation = tuple[str, float]  # type and severity
CopyNumbers = dict[tuple[int, Degradation], int]  # (number of an image, degradation) -> number of the copy
CopyLookup = Callable[[Image, Degradation], str | None]  # the path of the copy of an image, if there is one


def level_name(severity: float) -> str:
    """L1, L2, or the number between."""
    return next((name for name, number in LEVELS.items() if number == severity), f"{severity:g}")


def format_degradation(degradation: Degradation) -> str:
    """As cases and studies write it: `sparse_view@L1`."""
    return f"{degradation[0]}@{level_name(degradation[1])}"


def sort_by_table(degradations: Iterable[Degradation]) -> list[Degradation]:
    """In the order of the types, and by severity."""
    return sorted(degradations, key=lambda degradation: (table_position(degradation[0]), degradation[1]))


def assigned_degradation(question: Question) -> Degradation | None:
    """The one degradation assigned to a question; None if it has none, several, or a real one."""
    if len(question.degradations) != 1 or question.degradations[0].startswith("real@"):
        return None
    type, _, severity = question.degradations[0].partition("@")
    return parse_type(type), parse_severity(severity)


def degradations_by_image(case: Case, choice: Sequence[Degradation] | None) -> dict[int, list[Degradation]]:
    """The degradations to make of each image of a case, by its number; `choice` None: those assigned."""
    by_image: dict[int, list[Degradation]] = {}
    for question in case.questions:
        if choice is None:
            assigned = assigned_degradation(question)
            offered = [assigned] if assigned is not None else []
        else:
            offered = list(choice) if _is_clean(question) else []
        for number in _clean_images(case, question):
            modality = case.images[number].modality
            fitting = [(type, severity) for type, severity in offered if severity > 0 and fits(type, modality)]
            by_image[number] = sort_by_table({*by_image.get(number, ()), *fitting})
    return {number: degradations for number, degradations in by_image.items() if degradations}


def add_stored_copies(case: Case, choice: Sequence[Degradation] | None, copy_path: CopyLookup) -> Case:
    """The case with its degraded images after its own, and the questions that show them.

    A question whose degradation has no copy is left out: it would be asked with a clean image and count as degraded.
    """
    images = list(case.images)
    numbers: CopyNumbers = {}
    for number, degradations in degradations_by_image(case, choice).items():
        for degradation in degradations:
            if (path := copy_path(case.images[number], degradation)) is not None:
                numbers[number, degradation] = len(images)
                images.append(_image_of_copy(case.images[number], path, format_degradation(degradation)))
    questions: list[Question] = []
    for question in case.questions:
        shown = _shown_images(case, question)
        if choice is None and needs_copy(case, question):
            assigned = assigned_degradation(question)
            copies = _replace_images(shown, assigned, numbers) if assigned else shown
            if copies != shown:
                questions.append(question.model_copy(update={"images": copies}))
        else:
            questions.append(question.model_copy(update={"images": shown}) if numbers else question)
    for degradation in choice or ():
        questions += _degraded_twins(case, degradation, numbers)
    tellings = {name: _telling_with_copies(telling, numbers) for name, telling in case.tellings.items()}
    update = {"images": images, "questions": _drop_orphans(questions)} | ({"tellings": tellings} if tellings else {})
    return case.model_copy(update=update)


def needs_copy(case: Case, question: Question) -> bool:
    """Whether a question is to be asked with degraded images that are not stored yet."""
    drawn = [degradation for degradation in question.degradations if not degradation.startswith("real@")]
    is_degraded = any(parse_severity(degradation.partition("@")[2]) > 0 for degradation in drawn)
    return is_degraded and bool(_clean_images(case, question))


def _drop_orphans(questions: list[Question]) -> list[Question]:
    """The questions whose earlier questions and clean twins are there, too."""
    ids = {question.id for question in questions}
    complete = [
        question for question in questions if ids.issuperset(question.given) and (question.of or question.id) in ids
    ]
    return complete if len(complete) == len(questions) else _drop_orphans(complete)


def _degraded_twins(case: Case, degradation: Degradation, numbers: CopyNumbers) -> Iterable[Question]:
    """A degraded twin of each clean question that shows an image with such a copy; chains become chains of twins."""
    ending = f".{degradation[0]}.{level_name(degradation[1])}"
    originals = [
        question
        for question in case.questions
        if _is_clean(question) and any((number, degradation) in numbers for number in _clean_images(case, question))
    ]
    original_ids = {question.id for question in originals}
    existing_ids = {question.id for question in case.questions}
    for question in originals:
        if question.id + ending in existing_ids:
            continue
        chain_update: dict[str, Any] = {}
        if question.chain is not None:
            chain_update["chain"] = question.chain + ending
        if question.given:
            chain_update["given"] = [id + ending if id in original_ids else id for id in question.given]
        yield question.model_copy(
            update={
                "id": question.id + ending,
                "of": question.id,
                "degradations": [format_degradation(degradation)],
                "images": _replace_images(_clean_images(case, question), degradation, numbers),
                **chain_update,
            }
        )


def _is_clean(question: Question) -> bool:
    return question.of is None and not question.degradations


def _shown_images(case: Case, question: Question) -> list[int]:
    return question.images if question.images is not None else list(range(len(case.images)))


def _clean_images(case: Case, question: Question) -> list[int]:
    """The images that a question shows, by number, if none of them is degraded already."""
    shown = _shown_images(case, question)
    return [] if any(case.images[number].degradations for number in shown) else shown


def _replace_images(shown: list[int], degradation: Degradation, numbers: CopyNumbers) -> list[int]:
    return [numbers.get((number, degradation), number) for number in shown]


def _image_of_copy(image: Image, path: str, degradation: str) -> Image:
    """The record of a stored copy, which has no window and no place in a volume."""
    fields = image.model_dump(exclude_unset=True, exclude={"frame", "axis", "window"})
    return Image.model_validate({**fields, "path": path, "degradations": (degradation,)})


def _telling_with_copies(telling: Telling, numbers: CopyNumbers) -> Telling:
    if telling.images is None:
        return telling
    copies = [copy for (number, _), copy in numbers.items() if number in telling.images]
    return telling.model_copy(update={"images": [*telling.images, *copies]})
