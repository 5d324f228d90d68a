"""TableMap: which columns of a table hold what. docs/import.md explains every key."""

import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from wardround.core.errors import WardroundError
from wardround.core.toml_table import StrictTable, parse_table, read_toml

MAPS = Path(__file__).with_name("maps")
EVERYTHING = "*"


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


# one column or several: of several, the first that a row has a value in is read
Columns = Annotated[list[str], BeforeValidator(_as_list)]


class TableMap(StrictTable):
    """One map. A key without a value means that the table does not have it."""

    title: str = ""
    looked_up: datetime.date | None = None  # when the columns of a public set were looked up

    # the files
    suffixes: Columns = Field(default_factory=list)
    stems: Columns = Field(default_factory=list)
    columns: Columns = Field(default_factory=list)  # names of the columns of a file that has no header
    sheet: str | None = None
    encoding: str = "utf-8-sig"
    delimiter: str | None = None
    only: dict[str, Columns] = Field(default_factory=dict)

    # the question
    id: Columns = Field(default_factory=list)
    question: Columns = Field(default_factory=list)
    prompt: str | None = None  # the same question of every row
    options: Columns = Field(default_factory=list)  # a column for each option
    option_list: str | None = None  # one column with all options
    choices: Columns = Field(default_factory=list)  # the same options of every row
    answer: Columns = Field(default_factory=list)
    answer_form: Literal["option", "number", "text"] = "option"
    first_number: Literal[0, 1] | None = None
    accept: Columns = Field(default_factory=list)
    rationale: Columns = Field(default_factory=list)
    skill: str | None = None
    stage: str | None = None
    importance: str | None = None

    # the case
    case: str | None = None
    patient: str | None = None
    history: Columns = Field(default_factory=list)
    findings: Columns = Field(default_factory=list)
    age: str | None = None
    sex: str | None = None
    images: Columns = Field(default_factory=list)
    image_folders: Columns = Field(default_factory=list)
    modality: str | None = None
    modality_is: str | None = None
    specialty: Columns = Field(default_factory=list)
    specialty_in: Literal["file", "id"] | None = None
    tags: Columns = Field(default_factory=list)
    split: str | None = None
    published: str | None = None

    keep: Columns = Field(default_factory=list)  # further columns that become fields of the question; "*": all
    not_kept: Columns = Field(default_factory=list)  # columns that give the answer away or repeat it

    @model_validator(mode="after")
    def _names_the_question(self) -> "TableMap":
        if not self.question and not self.prompt:
            raise ValueError('names no question; write question = "COLUMN", or prompt = "What ...?" for all rows')
        if not self.answer:
            raise ValueError('names no answer; write answer = "COLUMN"')
        if sum(map(bool, (self.options, self.choices))) > 1:
            raise ValueError("names options twice: options are columns, choices the same texts of every row")
        return self

    @property
    def read_columns(self) -> set[str]:
        """The columns that the map gives a meaning."""
        lists = [self.id, self.question, self.options, self.answer, self.accept, self.rationale, self.history]
        lists += [self.findings, self.images, self.specialty, self.tags, self.not_kept]
        single = [self.option_list, self.skill, self.stage, self.importance, self.case, self.patient, self.age]
        single += [self.sex, self.modality, self.split, self.published]
        return {name for names in lists for name in names} | {name for name in single if name}

    def is_kept(self, column: str) -> bool:
        """Whether a column becomes a field of the question as it is."""
        return column not in self.read_columns and (column in self.keep or EVERYTHING in self.keep)


def read_map(file: Path) -> TableMap:
    """The map in a TOML file."""
    return parse_table(TableMap, read_toml(file, "map"), file)


def public_names() -> list[str]:
    """The public sets that have a map, by the names that users type."""
    return sorted(file.stem for file in MAPS.glob("*.toml"))


@cache
def public_map(name: str) -> TableMap:
    """The map of a public set."""
    if name not in public_names():
        raise WardroundError(f"unknown set {name!r}; there are maps of {', '.join(public_names())}")
    return read_map(MAPS / f"{name}.toml")
