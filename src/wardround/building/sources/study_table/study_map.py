"""StudyMap: which columns of a table of studies hold what. docs/building.md explains every key."""

from pathlib import Path

from pydantic import Field

from wardround.cases.importing.table_map import Columns, TableMap
from wardround.core.toml_table import StrictTable, parse_table, read_toml

PROMPT = "What is the most likely diagnosis?"


class StudyMap(StrictTable):
    """One map. A key without a value means that the table does not have it."""

    sheet: str | None = None
    encoding: str = "utf-8-sig"
    delimiter: str | None = None
    only: dict[str, Columns] = Field(default_factory=dict)

    diagnosis: str
    names: dict[str, str] = Field(default_factory=dict)  # the name of a label of the table; "" leaves its rows out
    accept: Columns = Field(default_factory=list)
    prompt: str = PROMPT

    patient: str
    study: str | None = None  # rows with the same value are one case; without it, each row is
    identifiers: Columns = Field(default_factory=list)  # names and numbers that are searched for in the texts
    age: str | None = None
    sex: str | None = None
    history: Columns = Field(default_factory=list)
    findings: Columns = Field(default_factory=list)
    specialty: str | None = None
    split: str | None = None

    images: Columns = Field(min_length=1)
    image_folders: Columns = Field(default_factory=lambda: ["images"])
    modality: str | None = None
    modality_is: str | None = None
    region: str | None = None
    region_is: str | None = None

    @property
    def read_columns(self) -> set[str]:
        """The columns that the map names."""
        lists = [self.accept, self.identifiers, self.history, self.findings, self.images, list(self.only)]
        single = [self.diagnosis, self.patient, self.study, self.age, self.sex, self.specialty, self.split]
        single += [self.modality, self.region]
        return {name for names in lists for name in names} | {name for name in single if name}

    @property
    def file_layout(self) -> TableMap:
        """How the file is read."""
        return TableMap(
            prompt=self.prompt,
            answer=[self.diagnosis],
            sheet=self.sheet,
            encoding=self.encoding,
            delimiter=self.delimiter,
        )


def read_study_map(file: Path) -> StudyMap:
    """The map in a TOML file."""
    return parse_table(StudyMap, read_toml(file, "map"), file)
