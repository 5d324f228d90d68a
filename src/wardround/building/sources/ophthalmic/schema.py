"""The disease-anatomy-lesion-grading-management schema, the modality x evidence matrix and the prompt templates.

Each is a TOML file; schema.toml, matrix.toml and templates.toml in this folder are ours and begin with a description.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from wardround.core.errors import BadInput
from wardround.core.field_errors import list_errors
from wardround.core.toml_table import StrictTable, read_toml

Level = Literal["R", "A", "S"]
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
TASKS = ("correspondence", "integration", "selection")
UNGRADABLE = "ungradable"
ANY_GRADE = "any"  # a management that is right at every grade
Model = TypeVar("Model", bound="StrictTable")


class EyeDisease(StrictTable):
    """One disease: where and how it appears, its grades and its management."""

    modalities: list[str] = Field(min_length=1)
    anatomy: list[str] = Field(min_length=1)
    lesions: list[str] = Field(min_length=1)
    also: list[str] = []
    grades: dict[str, str] = {}
    management: dict[str, list[str]] = {}
    never_beside: list[str] = []
    healthy: bool = False
    level: Level = "A"
    importance: float = Field(default=1.0, ge=0)

    def management_at(self, grade: str | None) -> list[str]:
        """The management that is right at a grade, or for a disease without grades."""
        return [*self.management.get(ANY_GRADE, []), *(self.management.get(grade, []) if grade else [])]


class EyeSchema(StrictTable):
    """The whole schema; its texts are the options of questions."""

    modalities: dict[str, str]
    quality: dict[str, str]
    anatomy: dict[str, list[str]]
    lesions: dict[str, list[str]]
    diseases: dict[str, EyeDisease]

    @model_validator(mode="after")
    def _check_references(self) -> EyeSchema:
        for title, table in (("anatomy", self.anatomy), ("lesions", self.lesions)):
            for name, modalities in table.items():
                _refuse_unknown(f"{title}.{name}", modalities, self.modalities, "modality")
        for name, disease in self.diseases.items():
            _refuse_unknown(f"diseases.{name}.modalities", disease.modalities, self.modalities, "modality")
            _refuse_unknown(f"diseases.{name}.anatomy", disease.anatomy, self.anatomy, "region")
            _refuse_unknown(f"diseases.{name}.lesions", disease.lesions, self.lesions, "lesion")
            _refuse_unknown(f"diseases.{name}.never_beside", disease.never_beside, self.diseases, "disease")
            known = {**disease.grades, ANY_GRADE: ""}
            _refuse_unknown(f"diseases.{name}.management", disease.management, known, "grade")
        return self

    @cached_property
    def disease_by_name(self) -> dict[str, str]:
        """The disease of each name that a table may use, in lower case."""
        names = {other.lower(): name for name, disease in self.diseases.items() for other in disease.also}
        return names | {name.lower(): name for name in self.diseases}

    def can_be_options(self, one: str, other: str) -> bool:
        """Whether two diseases can be options of one question."""
        return (
            one != other
            and other not in self.diseases[one].never_beside
            and one not in self.diseases[other].never_beside
        )


class FurtherExamination(StrictTable):
    """The further examination that settles a doubt."""

    diseases: list[str]
    doubt: str
    next: str
    also: list[str] = []


class EvidenceMatrix(StrictTable):
    """Modality x evidence. An evidence row has a disease and, by modality, equivalent lesions."""

    evidence: list[dict[str, str]] = []
    examinations: dict[str, str] = {}
    selection: list[FurtherExamination] = []

    def refuse_unknown(self, schema: EyeSchema) -> None:
        """Checks the terms against those of the schema."""
        for number, row in enumerate(self.evidence):
            place = f"evidence[{number}]"
            _refuse_unknown(f"{place}.disease", [row.get("disease", "")], schema.diseases, "disease")
            for modality, lesion in row.items():
                if modality != "disease":
                    _refuse_unknown(place, [modality], schema.modalities, "modality")
                    visible = [name for name, modalities in schema.lesions.items() if modality in modalities]
                    _refuse_unknown(f"{place}.{modality}", [lesion], visible, "lesion of that modality")
        for number, examination in enumerate(self.selection):
            place = f"selection[{number}]"
            _refuse_unknown(f"{place}.diseases", examination.diseases, schema.diseases, "disease")
            _refuse_unknown(f"{place}.next", [examination.next, *examination.also], self.examinations, "examination")


class PromptTemplate(StrictTable):
    """The prompts of one stage or task."""

    level: Level
    prompts: list[str] = Field(min_length=2, max_length=10)


class PromptTemplates(StrictTable):
    IQA: PromptTemplate
    AL: PromptTemplate
    LC: PromptTemplate
    DD: PromptTemplate
    SG: PromptTemplate
    CD: PromptTemplate
    correspondence: PromptTemplate
    integration: PromptTemplate
    selection: PromptTemplate
    differential: PromptTemplate | None = None

    def of(self, name: str) -> PromptTemplate:
        template: PromptTemplate = getattr(self, name)
        return template


class EyeTables(StrictTable):
    """The three files, and their texts."""

    schema_: EyeSchema
    matrix: EvidenceMatrix
    templates: PromptTemplates
    text: dict[str, str]  # by file name


def read_tables(schema: Path | None = None, matrix: Path | None = None, templates: Path | None = None) -> EyeTables:
    """The given files, by default ours."""
    own_files = {"schema": schema, "matrix": matrix, "templates": templates}
    files = {name: file or Path(__file__).with_name(f"{name}.toml") for name, file in own_files.items()}
    eye_schema = _read(files["schema"], EyeSchema)
    evidence_matrix = _read(files["matrix"], EvidenceMatrix)
    try:
        evidence_matrix.refuse_unknown(eye_schema)
    except ValueError as error:
        raise BadInput(files["matrix"], str(error)) from None
    prompt_templates = _read(files["templates"], PromptTemplates)
    text = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    return EyeTables(schema_=eye_schema, matrix=evidence_matrix, templates=prompt_templates, text=text)


def _read(file: Path, model: type[Model]) -> Model:
    try:
        return model.model_validate(read_toml(file, "TOML"))
    except ValidationError as error:
        field, message = list_errors(error)[0]
        raise BadInput(file, message, field=field or None) from None


def _refuse_unknown(place: str, names: Iterable[str], known: Container[str], kind: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{place}: there is no {kind} {name!r}")
