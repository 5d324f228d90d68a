"""A layout of layouts.toml: which columns of a public question set hold what."""

import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from wardround.core.toml_table import StrictTable, parse_table, read_toml

FILE = Path(__file__).with_name("layouts.toml")


class PublicLayout(StrictTable):
    """One layout; the head of layouts.toml says what its keys mean."""

    title: str
    looked_up: datetime.date
    suffixes: list[str]
    stems: list[str] = Field(default_factory=list)
    columns: list[str] = Field(default_factory=list)
    id: list[str] = Field(default_factory=list)
    question: list[str]
    options: list[str] = Field(default_factory=list)
    option_list: str | None = None
    answer: list[str]
    answer_form: Literal["option", "number", "text"]
    images: list[str] = Field(default_factory=list)
    image_folders: list[str] = Field(default_factory=list)
    modality: str | None = None
    specialty: list[str] = Field(default_factory=list)
    specialty_in: Literal["file", "id"] | None = None
    rationale: list[str] = Field(default_factory=list)
    split: str | None = None
    only: dict[str, list[str]] = Field(default_factory=dict)
    not_kept: list[str] = Field(default_factory=list)  # columns that give the answer away or repeat it

    @property
    def read_columns(self) -> set[str]:
        """The columns that are not kept as fields of the question."""
        lists = (self.id, self.question, self.options, self.answer, self.images, self.specialty, self.rationale)
        named = {name for names in lists for name in names} | {self.option_list, self.modality, self.split}
        return {name for name in named if name} | set(self.not_kept)


@cache
def public_layouts() -> dict[str, PublicLayout]:
    """The layouts by the name that users type after `--from`."""
    tables = read_toml(FILE, "layouts")
    return {name: parse_table(PublicLayout, table, FILE, name) for name, table in tables.items()}
