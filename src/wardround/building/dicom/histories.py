"""The table of histories and diagnoses that a hospital gives: one row is one case."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple

from wardround.core.errors import BadInput

NAMES = {  # what a column may be called
    "patient": ("patient", "patient_id", "patientid", "mrn"),
    "study": ("study", "study_uid", "study_instance_uid", "studyinstanceuid"),
    "accession": ("accession", "accession_number", "accessionnumber"),
    "history": ("history", "clinical_history"),
    "diagnosis": ("diagnosis", "final_diagnosis"),
    "accept": ("accept", "synonyms"),
    "options": ("options", "distractors", "differential"),
    "findings": ("findings",),
    "modality": ("modality",),
    "specialty": ("specialty", "section"),
    "split": ("split",),
    "age": ("age",),
    "sex": ("sex", "gender"),
}
WHOSE = ("study", "accession", "patient")
SEPARATOR = "|"


class Row(NamedTuple):
    """One row: the line on which it ends, and what it tells by column."""

    line: int
    told: dict[str, str]

    def listed(self, name: str) -> list[str]:
        """The values of a cell that holds several."""
        return [part.strip() for part in self.told.get(name, "").split(SEPARATOR) if part.strip()]

    @property
    def age(self) -> float | int | None:
        try:
            age = float(self.told.get("age", ""))
        except ValueError:
            return None
        return None if not 0 <= age <= 130 else int(age) if age == int(age) else age

    @property
    def sex(self) -> str | None:
        first = self.told.get("sex", "")[:1].upper()
        return {"F": "F", "W": "F", "M": "M"}.get(first)


def read_histories(file: Path) -> list[Row]:
    """The rows, those too that lack something."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ";" if ";" in text.split("\n", 1)[0] else ","
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        columns = {given: column for given in rows.fieldnames or () if (column := _column(given))}
        _refuse(file, columns)
        return [
            Row(rows.line_num, {columns[key]: (value or "").strip() for key, value in row.items() if key in columns})
            for row in rows
        ]
    except FileNotFoundError:
        raise BadInput(file, "there is no such table") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None


def _column(given: str | None) -> str | None:
    plain = (given or "").strip().lower().replace(" ", "_").replace("-", "_")
    return next((name for name, names in NAMES.items() if plain in names), None)


def _refuse(file: Path, columns: dict[str, str]) -> None:
    there = set(columns.values())
    lacking = [name for name in ("history", "diagnosis") if name not in there]
    if lacking or not there & set(WHOSE):
        wanted = "history, diagnosis and one of study, accession, patient"
        raise BadInput(file, f"expected the columns {wanted}", line=1)
    if len(there) < len(columns):
        raise BadInput(file, "two columns mean the same", line=1)
