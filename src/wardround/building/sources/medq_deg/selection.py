"""The questions of a pool that can be degraded and asked, why others cannot, and the degradations of each.

The paper applies three degradations at random and does not say how often each is used. Our choice: within one modality
every fitting type is used equally often, so that types can be compared. Questions come in an order that depends on the
seed and their ids only, and each gets the types that were used least so far; ties are broken by the seed and the id.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any

from wardround.building.duplicates.fingerprint import Fingerprint, fingerprint
from wardround.building.sources.medq_deg.account import RejectedQuestion
from wardround.building.sources.medq_deg.duplicates import PoolQuestion
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.canonical import blake
from wardround.core.case import Image, Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.text import fold_nfkc
from wardround.degrade.modalities import parse_modality
from wardround.degrade.types import TYPES, fits

Note = Callable[[str], None]
PROGRESS_INTERVAL = 1000  # questions


def select_questions(
    pool: CaseSet, fingerprints: dict[str, Fingerprint], rejected: list[RejectedQuestion], note: Note
) -> Iterator[PoolQuestion]:
    """The questions that can be degraded and asked; each image is decoded once."""
    fingerprint_by_image: dict[Any, Fingerprint | str] = {}
    count = 0
    for case in pool:
        for question in case.questions:
            count += 1
            if count % PROGRESS_INTERVAL == 0:
                note(f"checked {count} of {pool.question_count} questions")
            images = case.images if question.images is None else [case.images[number] for number in question.images]
            reason, detail = _unfit_reason(question, images)
            results = [] if reason else [_fingerprint_image(pool, image, fingerprint_by_image) for image in images]
            broken = next((result for result in results if isinstance(result, str)), None)
            if broken is not None:
                reason, detail = "image cannot be decoded", broken
            if reason:
                rejected.append(RejectedQuestion(case.id, question.id, reason, detail))
                continue
            usable = [result for result in results if isinstance(result, Fingerprint)]
            fingerprints |= {result.exact: result for result in usable}
            yield PoolQuestion(
                case_id=case.id,
                question_id=question.id,
                prompt=question.prompt,
                options=frozenset(fold_nfkc(option) for option in question.choices),
                answer=fold_nfkc(question.choices[int(question.gold)]),
                images=tuple(result.exact for result in usable),
                modalities=tuple(sorted({parse_modality(image.modality) or "" for image in images})),
            )


def _unfit_reason(question: Question, images: list[Image]) -> tuple[str, str]:
    """Why a question cannot be used, in short and in detail; two empty texts if it can."""
    if question.of or question.degradations or any(image.degradations for image in images):
        return "already degraded", ", ".join(question.degradations)
    if question.kind != "choice":
        return "not a choice", f"kind is {question.kind}"
    if question.chain or question.given:
        return "part of a chain", f"chain {question.chain or 'of ' + ', '.join(question.given)}"
    if not images:
        return "no image", "it shows none"
    others = [image.modality for image in images if image.modality and parse_modality(image.modality) is None]
    if others:
        return "none of the 7 modalities", f"modality is {others[0]!r}"
    return "", ""


def _fingerprint_image(
    pool: CaseSet, image: Image, fingerprint_by_image: dict[Any, Fingerprint | str]
) -> Fingerprint | str:
    """The fingerprint of an image, or why it cannot be decoded."""
    recipe = recipe_for(image)
    key = image.path, image.frame, repr(recipe)
    if key not in fingerprint_by_image:
        try:
            fingerprint_by_image[key] = fingerprint(pixels(pool.image_path(image), image.frame, recipe))
        except BadInput as error:
            fingerprint_by_image[key] = error.problem.message
    return fingerprint_by_image[key]


def draw_degradations(
    questions: Collection[PoolQuestion], seed: int, count: int
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The types of each question by its key, in the order of the 18."""
    counts_by_modalities: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    types_by_key = {}
    for question in sorted(questions, key=lambda question: blake([seed, *question.key])):
        fitting = [type for type in TYPES if all(fits(type, modality) for modality in question.modalities)]
        if len(fitting) < count:
            modality_names = " and ".join(modality or "an image without a modality" for modality in question.modalities)
            raise WardroundError(
                f"{count} degradations per question: {modality_names} has only {len(fitting)} that fit"
            )
        counts = counts_by_modalities[question.modalities]
        fitting.sort(key=lambda type: (counts[type], blake([seed, *question.key, type])))
        chosen = fitting[:count]
        counts.update(chosen)
        types_by_key[question.key] = tuple(type for type in TYPES if type in chosen)
    return types_by_key
