"""The place of a question in MedQ-Deg's hierarchy: 2 abilities, 6 capabilities, 30 skills."""

import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from wardround.core.case import Case, Question
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


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


@dataclass
class LabelCounts:
    """Clean questions by skill, by the label that has no place, and by the label that has no skill."""

    by_skill: Counter[str] = field(default_factory=Counter)
    unplaced: Counter[str] = field(default_factory=Counter)
    without_skill: Counter[str] = field(default_factory=Counter)
    by_model: int = 0  # questions whose skill a model chose

    def add(self, question: Question) -> None:
        extra = question.model_extra or {}
        place = hierarchy().skills.get(_fold(question.skill))
        if place is not None:
            self.by_skill[str(place.skill)] += 1
            self.by_model += extra.get("skill_from") == "model"
        else:  # a source's own name for a skill is a label like any other
            self.without_skill[str(question.skill or extra.get("label") or question.capability or "")] += 1

    def shares(self) -> dict[str, dict[str, float]]:
        """Of each skill the questions, and their share of all, with and without a skill."""
        total = self.by_skill.total() + self.without_skill.total()
        ordered = sorted(self.by_skill.items(), key=lambda entry: (-entry[1], entry[0]))
        return {skill: {"questions": count, "share": round(count / total, 4)} for skill, count in ordered}

    def absent_skills(self) -> list[str]:
        """The skills of the 30 that no question has."""
        return [str(place.skill) for place in hierarchy().skills.values() if place.skill not in self.by_skill]

    def table(self) -> Table:
        """The clean questions of each of the 30 skills, in the hierarchy's order, and of none."""
        total = self.by_skill.total() + self.without_skill.total()
        places = list(hierarchy().skills.values())
        counts = [(str(place.skill), place.capability, self.by_skill[str(place.skill)]) for place in places]
        counts.append(("without a skill", "", self.without_skill.total()))
        rows = [TableRow((skill, task), [Cell(n), Cell(n / total if total else None)]) for skill, task, n in counts]
        columns = [Column("clean questions", unit="count"), Column("share")]
        notes = (
            [f"A model chose the skill of {self.by_model:,} questions: review/skills.jsonl."] if self.by_model else []
        )
        if self.without_skill:
            notes.append(f"Without a skill: {_list_labels(self.without_skill)}.")
        return Table("Questions by skill", ("Skill", "Capability"), columns, rows, notes)


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
    labels = _list_labels(unplaced)
    return f"without a place among the 30 skills and 6 capabilities: {labels}" if labels else ""


def describe_without_skill(labels: LabelCounts) -> str:
    """One line that lists the labels that give a capability and no skill; empty if there are none."""
    placed = {label: count for label, count in labels.without_skill.items() if label not in labels.unplaced}
    return f"with a capability but none of the 30 skills: {_list_labels(Counter(placed))}" if placed else ""


def _list_labels(counts: Counter[str]) -> str:
    return ", ".join(f"{count} x {label or 'no label'}" for label, count in counts.most_common())


def _fold(label: object) -> str:
    return " ".join(str(label or "").casefold().split())
