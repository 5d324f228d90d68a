"""Which questions of a pool can be degraded and asked, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wardround.building.sources.medq_deg.account import Rejected
from wardround.building.sources.medq_deg.duplicates import Asked, Print, plain, print_of
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image, Question
from wardround.core.errors import BadInput
from wardround.degrade.types import modality_named

Note = Callable[[str], None]
LOOKED_AT = 1000  # questions between two words of progress


def fit_questions(pool: CaseSet, prints: dict[str, Print], rejected: list[Rejected], note: Note) -> Iterator[Asked]:
    """The questions that can be degraded and asked; the images of each are looked at once."""
    seen: dict[Any, Print | str] = {}
    done = 0
    for case in pool:
        for question in case.questions:
            done += 1
            if done % LOOKED_AT == 0:
                note(f"looked at {done} of {pool.question_count} questions")
            images = case.images if question.images is None else [case.images[number] for number in question.images]
            reason, detail = _unfit(question, images)
            looks = [] if reason else [_looked_at(pool, image, seen) for image in images]
            broken = next((each for each in looks if isinstance(each, str)), None)
            if broken is not None:
                reason, detail = "image cannot be decoded", broken
            if reason:
                rejected.append(Rejected(case.id, question.id, reason, detail))
                continue
            found = [each for each in looks if isinstance(each, Print)]
            prints |= {each.exact: each for each in found}
            yield Asked(
                case=case.id,
                question=question.id,
                prompt=question.prompt,
                options=frozenset(plain(option) for option in question.choices),
                answer=plain(question.choices[int(question.gold)]),
                images=tuple(each.exact for each in found),
                modalities=tuple(sorted({modality_named(image.modality) or "" for image in images})),
            )


def _unfit(question: Question, images: list[Image]) -> tuple[str, str]:
    """Why a question cannot be taken, in short and in detail; two empty texts if it can."""
    if question.of or question.degradations or any(image.degradations for image in images):
        return "already degraded", ", ".join(question.degradations)
    if question.kind != "choice":
        return "not a choice", f"kind is {question.kind}"
    if question.chain or question.given:
        return "part of a chain", f"chain {question.chain or 'of ' + ', '.join(question.given)}"
    if not images:
        return "no image", "it shows none"
    unknown = [image.modality for image in images if modality_named(image.modality) is None]
    if unknown:
        return "none of the 7 modalities", f"modality is {unknown[0]!r}" if unknown[0] else "no modality is told"
    return "", ""


def _looked_at(pool: CaseSet, image: Image, seen: dict[Any, Print | str]) -> Print | str:
    """How an image is known again, or what is wrong with it."""
    recipe = recipe_for(image)
    key = image.path, image.frame, repr(recipe)
    if key not in seen:
        try:
            seen[key] = print_of(pixels(pool.image_path(image), image.frame, recipe))
        except BadInput as error:
            seen[key] = error.problem.message
    return seen[key]
