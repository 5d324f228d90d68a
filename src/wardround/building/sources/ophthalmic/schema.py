"""The disease-anatomy-lesion-grading-management schema, the modality x evidence matrix and the templates, as read.

Each is a TOML file; schema.toml, matrix.toml and templates.toml here are ours, and say at their heads what they hold.
"""

from __future__ import annotations

import tomllib
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wardround.core.errors import BadInput
from wardround.core.field_errors import complaints

Level = Literal["R", "A", "S"]
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
TASKS = ("correspondence", "integration", "selection")
UNGRADABLE = "ungradable"
ANY = "any"  # a management that is right at every grade
Read = TypeVar("Read", bound="_Told")


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Disease(_Told):
    """What one disease admits."""

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

    def right_at(self, grade: str | None) -> list[str]:
        """The management that is right at a grade, or where there is none."""
        return [*self.management.get(ANY, []), *(self.management.get(grade, []) if grade else [])]


class Schema(_Told):
    """All of it; its texts are the options of questions."""

    modalities: dict[str, str]
    quality: dict[str, str]
    anatomy: dict[str, list[str]]
    lesions: dict[str, list[str]]
    diseases: dict[str, Disease]

    @model_validator(mode="after")
    def _hangs_together(self) -> Schema:
        for what, shown in (("anatomy", self.anatomy), ("lesions", self.lesions)):
            for name, modalities in shown.items():
                _refuse_unknown(f"{what}.{name}", modalities, self.modalities, "modality")
        for name, disease in self.diseases.items():
            _refuse_unknown(f"diseases.{name}.modalities", disease.modalities, self.modalities, "modality")
            _refuse_unknown(f"diseases.{name}.anatomy", disease.anatomy, self.anatomy, "region")
            _refuse_unknown(f"diseases.{name}.lesions", disease.lesions, self.lesions, "lesion")
            _refuse_unknown(f"diseases.{name}.never_beside", disease.never_beside, self.diseases, "disease")
            known = {**disease.grades, ANY: ""}
            _refuse_unknown(f"diseases.{name}.management", disease.management, known, "grade")
        return self

    @cached_property
    def called(self) -> dict[str, str]:
        """The disease of each name that a table may use, in small letters."""
        names = {other.lower(): name for name, disease in self.diseases.items() for other in disease.also}
        return names | {name.lower(): name for name in self.diseases}

    def apart(self, one: str, other: str) -> bool:
        """Whether two diseases can be options of one question."""
        return (
            one != other
            and other not in self.diseases[one].never_beside
            and one not in self.diseases[other].never_beside
        )


class Examination(_Told):
    """Which further examination settles a doubt."""

    diseases: list[str]
    doubt: str
    next: str
    also: list[str] = []


class Matrix(_Told):
    """Modality x evidence. An evidence row has the disease and, by modality, what shows the same."""

    evidence: list[dict[str, str]] = []
    examinations: dict[str, str] = {}
    selection: list[Examination] = []

    def refuse_unknown(self, schema: Schema) -> None:
        """Held against the schema whose words it uses."""
        for number, row in enumerate(self.evidence):
            place = f"evidence[{number}]"
            _refuse_unknown(f"{place}.disease", [row.get("disease", "")], schema.diseases, "disease")
            for modality, lesion in row.items():
                if modality != "disease":
                    _refuse_unknown(place, [modality], schema.modalities, "modality")
                    seen = [name for name, shown in schema.lesions.items() if modality in shown]
                    _refuse_unknown(f"{place}.{modality}", [lesion], seen, "lesion of that modality")
        for number, each in enumerate(self.selection):
            place = f"selection[{number}]"
            _refuse_unknown(f"{place}.diseases", each.diseases, schema.diseases, "disease")
            _refuse_unknown(f"{place}.next", [each.next, *each.also], self.examinations, "examination")


class Template(_Told):
    """The wordings of one stage or task."""

    level: Level
    prompts: list[str] = Field(min_length=2, max_length=10)


class Templates(_Told):
    IQA: Template
    AL: Template
    LC: Template
    DD: Template
    SG: Template
    CD: Template
    correspondence: Template
    integration: Template
    selection: Template

    def of(self, name: str) -> Template:
        told: Template = getattr(self, name)
        return told


class Tables(_Told):
    """The three together, with the text of the schema as it was given."""

    schema_: Schema
    matrix: Matrix
    templates: Templates
    text: dict[str, str]  # by file name


def read_tables(schema: Path | None = None, matrix: Path | None = None, templates: Path | None = None) -> Tables:
    """Ours, or those that are given."""
    text = {
        name: _text(name, given) for name, given in (("schema", schema), ("matrix", matrix), ("templates", templates))
    }
    read = _read(schema, "schema", text["schema"], Schema)
    across = _read(matrix, "matrix", text["matrix"], Matrix)
    try:
        across.refuse_unknown(read)
    except ValueError as error:
        raise BadInput(matrix or Path("matrix.toml"), str(error)) from None
    wording = _read(templates, "templates", text["templates"], Templates)
    return Tables(schema_=read, matrix=across, templates=wording, text=text)


def _text(name: str, given: Path | None) -> str:
    if given is None:
        return resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        return given.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(given, "there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(given, f"cannot be read: {error}") from None


def _read(given: Path | None, name: str, text: str, kind: type[Read]) -> Read:
    file = given or Path(f"{name}.toml")
    try:
        return kind.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(file, f"is not TOML: {error}") from None
    except ValidationError as error:
        field, message = complaints(error)[0]
        raise BadInput(file, message, field=field or None) from None


def _refuse_unknown(place: str, names: object, known: object, what: str) -> None:
    lacking = [name for name in names if name not in known]  # type: ignore[attr-defined, operator]
    if lacking:
        raise ValueError(f"{place}: there is no {what} {lacking[0]!r}")
