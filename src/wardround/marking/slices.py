"""What of a case and a question a mark carries, so that measures can be taken over parts of the whole."""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.core.case import Case, Question

AGE_BANDS = ((18, "under 18"), (40, "18 to 39"), (65, "40 to 64"), (131, "65 and over"))
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
}


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
    }


def age_band(age: float) -> str:
    """Children, younger, middle-aged and older adults: our choice of limits."""
    return next(name for limit, name in AGE_BANDS if age < limit)
