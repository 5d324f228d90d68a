"""The place of a question in MedQ-Deg's hierarchy: 2 abilities, 6 capabilities, 30 skills."""

import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from wardround.core.case import Case, Question


@dataclass(frozen=True, slots=True)
class SkillPlace:
    """One place in the hierarchy; without a skill if a label gives only the capability."""

    ability: str
    capability: str
    skill: str | None = None


@dataclass(frozen=True)
class Hierarchy:
    """The places of the 30 skills and of all labels, and why some labels have none."""

    version: int
    hash: str
    skills: dict[str, SkillPlace]
    places: dict[str, SkillPlace]
    unplaced: dict[str, str]

    def place(self, *labels: object) -> SkillPlace | None:
        """The place of the first label that has one."""
        return next((place for label in labels if (place := self.places.get(_fold(label)))), None)


@cache
def hierarchy() -> Hierarchy:
    """The hierarchy in the benchmark's `skills.toml`."""
    data = files("wardround").joinpath("benchmarks", "medq_deg", "skills.toml").read_bytes()
    table: dict[str, Any] = tomllib.loads(data.decode())
    place_by_capability: dict[str, SkillPlace] = {}
    place_by_skill: dict[str, SkillPlace] = {}
    for ability, capabilities in table["abilities"].items():
        for capability, skills in capabilities.items():
            place_by_capability[capability] = SkillPlace(ability, capability)
            place_by_skill |= {skill: SkillPlace(ability, capability, skill) for skill in skills}
    place_by_label = place_by_skill | place_by_capability  # `Treatment Reasoning` is both: it means the capability
    place_by_label |= {label: place_by_skill[skill] for label, skill in table["skills"].items()}
    place_by_label |= {label: place_by_capability[capability] for label, capability in table["capabilities"].items()}
    return Hierarchy(
        version=table["version"],
        hash=hashlib.sha256(data).hexdigest(),
        skills={_fold(skill): place for skill, place in place_by_skill.items()},
        places={_fold(label): place for label, place in place_by_label.items()},
        unplaced={_fold(label): why for label, why in table["unplaced"].items()},
    )


def skill_fields(question: Question) -> tuple[dict[str, Any], str | None]:
    """The fields that place a question, and its label if that has no place ("" if it has no label at all).

    The question's own skill comes first, then the source's label, then its capability.
    """
    labels = [question.skill, (question.model_extra or {}).get("label"), question.capability]
    skill_place = hierarchy().skills.get(_fold(question.skill)) or hierarchy().place(*labels)
    if skill_place is None:
        return {}, next((str(label) for label in labels if label), "")
    fields = {"capability": skill_place.capability, "task": skill_place.ability}
    return fields | ({"skill": skill_place.skill} if skill_place.skill else {}), None


def attach_skills(case: Case, unplaced: Counter[str]) -> Case:
    """A case with its questions placed. Labels without a place are counted; their questions are not changed."""
    questions = []
    for question in case.questions:
        fields, label = skill_fields(question)
        if label is not None:
            unplaced[label] += 1
        questions.append(question.model_copy(update=fields))
    return case.model_copy(update={"questions": questions})


def describe_unplaced(unplaced: Counter[str]) -> str:
    """One line that lists the labels without a place; empty if there are none."""
    labels = ", ".join(f"{count} x {label or 'no label'}" for label, count in unplaced.most_common())
    return f"without a place among the 30 skills and 6 capabilities: {labels}" if labels else ""


def _fold(label: object) -> str:
    return " ".join(str(label or "").casefold().split())
