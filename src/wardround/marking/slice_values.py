"""Columns of marks for slices: the fields of a case and a question, its degradation, and the person who answered."""

from typing import Any

import polars as pl

from wardround.asking.degradation import CLEAN_LEVEL, degradation_labels
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.degrade import category_of

AGE_BANDS = ((18, "under 18"), (40, "18 to 39"), (65, "40 to 64"), (131, "65 and over"))
QUESTION_KEYS = ("stage", "skill", "capability", "grade", "kind", "task", "chain")
SLICE_SCHEMA: dict[str, Any] = {
    "specialty": pl.String,
    "split": pl.String,
    "sex": pl.String,
    "age_band": pl.String,
    **dict.fromkeys(QUESTION_KEYS, pl.String),
    "modality": pl.List(pl.String),
    "tag": pl.List(pl.String),
}
CARRIED_SCHEMA: dict[str, Any] = {  # fields that measures need besides slices
    "importance": pl.Float64,
    "of": pl.String,
    "given": pl.List(pl.String),
    "published": pl.String,
}
PEOPLE_SCHEMA: dict[str, Any] = {"person": pl.String, "in_specialty": pl.String}
QUESTION_SCHEMA: dict[str, Any] = {
    **{name: SLICE_SCHEMA[name] for name in QUESTION_KEYS},
    **{name: CARRIED_SCHEMA[name] for name in ("importance", "of", "given")},
}
CASE_SCHEMA: dict[str, Any] = {
    name: dtype for name, dtype in (SLICE_SCHEMA | CARRIED_SCHEMA).items() if name not in QUESTION_SCHEMA
}
STRATA_SCHEMA: dict[str, Any] = dict.fromkeys(("type", "severity", "category"), pl.String)


def case_values(case: Case) -> dict[str, Any]:
    """The slice columns of a case, and the fields carried with them. It counts in each of its modalities and tags."""
    patient = case.patient
    return {
        "specialty": case.specialty,
        "split": case.split,
        "sex": patient.sex if patient else None,
        "age_band": age_band(patient.age) if patient and patient.age is not None else None,
        "modality": sorted({image.modality for image in case.images if image.modality}),
        "tag": sorted(set(case.tags)),
        "published": case.origin.published if case.origin else None,
    }


def question_values(question: Question) -> dict[str, Any]:
    """The slice columns of a question, and the fields carried with them."""
    return {name: getattr(question, name) for name in QUESTION_SCHEMA}


def slice_values(case: Case, question: Question) -> dict[str, Any]:
    """The slice columns of one question of one case, and the fields carried with them."""
    return case_values(case) | question_values(question)


def degradation_values(case: Case, question: Question, condition: Condition) -> dict[str, str | None]:
    """The degradation of the images that a question shows: type, severity and category.

    Several degradations are joined by `+`, and so are their severities and categories if they differ.
    """
    parts = [name.partition("@")[::2] for name in degradation_labels(case, question, condition)]
    if not parts:
        return {"type": None, "severity": CLEAN_LEVEL, "category": None}
    categories = [category_of(kind) for kind, _ in parts]
    return {
        "type": "+".join(kind for kind, _ in parts),
        "severity": "+".join(sorted({severity for _, severity in parts})),
        "category": None if None in categories else "+".join(dict.fromkeys(filter(None, categories))),
    }


def age_band(age: float) -> str:
    """The age band; its limits are our choice."""
    return next(name for limit, name in AGE_BANDS if age < limit)


def person_values(answer: Answer, case: Case) -> dict[str, str | None]:
    """The person, and whether the case is of one of their specialties; null if either is unknown."""
    if answer.person is None:
        return {}
    names = str(answer.person.get("specialty", "")).split(";")
    specialties = {_normalize(name) for name in names if name.strip()}
    is_own = _normalize(case.specialty or "") in specialties
    in_specialty = ("yes" if is_own else "no") if specialties and case.specialty else None
    return {"person": answer.person["person"], "in_specialty": in_specialty}


def _normalize(specialty: str) -> str:
    from wardround.cases.readers.clinbench import specialty_named  # with all readers of published sets

    return specialty_named(specialty).casefold()
