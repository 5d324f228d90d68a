"""Where a question stands in MedQ-Deg's capabilities: 2 abilities, 6 capabilities, 30 skills."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from wardround.core.case import Case, Question


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the hierarchy; without a skill where a label tells no more than the capability."""

    ability: str
    capability: str
    skill: str | None = None


@dataclass(frozen=True)
class Hierarchy:
    """The places of the 30 skills, those of all labels that lead to one, and why some labels lead to none."""

    version: int
    hash: str
    skills: dict[str, Place]
    places: dict[str, Place]
    unplaced: dict[str, str]

    def place(self, *labels: object) -> Place | None:
        """The place that the first label with one has."""
        return next((found for label in labels if (found := self.places.get(_plain(label)))), None)


@cache
def hierarchy() -> Hierarchy:
    """As `skills.toml` of the benchmark tells it."""
    data = files("wardround").joinpath("benchmarks", "medq_deg", "skills.toml").read_bytes()
    told: dict[str, Any] = tomllib.loads(data.decode())
    of_capability: dict[str, Place] = {}
    of_skill: dict[str, Place] = {}
    for ability, capabilities in told["abilities"].items():
        for capability, skills in capabilities.items():
            of_capability[capability] = Place(ability, capability)
            of_skill |= {skill: Place(ability, capability, skill) for skill in skills}
    named = of_skill | of_capability  # `Treatment Reasoning` is both: as a label it tells no more than the capability
    named |= {label: of_skill[skill] for label, skill in told["skills"].items()}
    named |= {label: of_capability[capability] for label, capability in told["capabilities"].items()}
    return Hierarchy(
        version=told["version"],
        hash=hashlib.sha256(data).hexdigest(),
        skills={_plain(skill): place for skill, place in of_skill.items()},
        places={_plain(label): place for label, place in named.items()},
        unplaced={_plain(label): why for label, why in told["unplaced"].items()},
    )


def placed(question: Question) -> tuple[dict[str, Any], str | None]:
    """The fields that place a question, and its label where that has no place ("" if it has no label at all).

    What the question already tells of itself is looked at first: skill, then the source's label, then capability.
    """
    labels = [question.skill, (question.model_extra or {}).get("label"), question.capability]
    found = hierarchy().skills.get(_plain(question.skill)) or hierarchy().place(*labels)
    if found is None:
        return {}, next((str(label) for label in labels if label), "")
    told = {"capability": found.capability, "task": found.ability}
    return told | ({"skill": found.skill} if found.skill else {}), None


def attached(case: Case, unplaced: Counter[str]) -> Case:
    """A case with its questions placed. Labels without a place are counted, and their questions stay as they are."""
    questions = []
    for question in case.questions:
        fields, label = placed(question)
        if label is not None:
            unplaced[label] += 1
        questions.append(question.model_copy(update=fields))
    return case.model_copy(update={"questions": questions})


def unplaced_in_words(unplaced: Counter[str]) -> str:
    """One line that lists the labels without a place; empty if there are none."""
    listed = ", ".join(f"{many} x {label or 'no label'}" for label, many in unplaced.most_common())
    return f"without a place among the 30 skills and 6 capabilities: {listed}" if listed else ""


def _plain(label: object) -> str:
    return " ".join(str(label or "").casefold().split())
