"""What of a case and a question a mark carries, so that measures can be taken over parts of the whole."""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.asking.applicable import shown_images
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.degrade import CATEGORIES

AGE_BANDS = ((18, "under 18"), (40, "18 to 39"), (65, "40 to 64"), (131, "65 and over"))
CLEAN = "L0"
OF_QUESTION = ("stage", "skill", "capability", "grade", "kind", "task", "chain")
SLICE_SCHEMA: dict[str, Any] = {
    "specialty": pl.String,
    "split": pl.String,
    "sex": pl.String,
    "age_band": pl.String,
    **dict.fromkeys(OF_QUESTION, pl.String),
    "modality": pl.List(pl.String),
    "tag": pl.List(pl.String),
}
CARRIED_SCHEMA: dict[str, Any] = {  # what measures need to know of a question beside its slices
    "importance": pl.Float64,
    "of": pl.String,
    "given": pl.List(pl.String),
    "published": pl.String,
}
STRATA_SCHEMA: dict[str, Any] = dict.fromkeys(("type", "severity", "category"), pl.String)


def slice_values(case: Case, question: Question) -> dict[str, Any]:
    """The slice keys of one question of one case, and what is carried with them.

    A case counts in each of its modalities and tags.
    """
    patient = case.patient
    return {
        "specialty": case.specialty,
        "split": case.split,
        "sex": patient.sex if patient else None,
        "age_band": age_band(patient.age) if patient and patient.age is not None else None,
        **{key: getattr(question, key) for key in OF_QUESTION},
        "modality": sorted({image.modality for image in case.images if image.modality}),
        "tag": sorted(set(case.tags)),
        "importance": question.importance,
        "of": question.of,
        "given": question.given,
        "published": case.origin.published if case.origin else None,
    }


def strata(case: Case, question: Question, condition: Condition) -> dict[str, str | None]:
    """What was degraded in the images that a question shows, how far, and of which category that is.

    Several degradations are joined by `+`, and so are their levels and categories where these differ.
    """
    parts = [each.partition("@")[::2] for each in _degradations(case, question, condition)]
    parts = [(kind, severity) for kind, severity in parts if severity != CLEAN]
    if not parts:
        return {"type": None, "severity": CLEAN, "category": None}
    categories = [CATEGORIES.get(kind) for kind, _ in parts]
    return {
        "type": "+".join(kind for kind, _ in parts),
        "severity": "+".join(sorted({severity for _, severity in parts})),
        "category": None if None in categories else "+".join(dict.fromkeys(filter(None, categories))),
    }


def _degradations(case: Case, question: Question, condition: Condition) -> list[str]:
    """As `TYPE@severity`: what the condition names, else what the question lists, else what its files hold."""
    if condition.degradation == "none":
        return []
    if condition.degradation not in ("assigned", "stored"):
        return [condition.degradation]
    if question.degradations or condition.degradation == "assigned":
        return question.degradations
    shown = (case.images[number] for number in shown_images(case, question, condition))
    return list(dict.fromkeys(each for image in shown for each in image.degradations))


def age_band(age: float) -> str:
    """Children, younger, middle-aged and older adults: our choice of limits."""
    return next(name for limit, name in AGE_BANDS if age < limit)
