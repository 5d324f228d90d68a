"""The rows of a table of studies as records; rows of one study become one record."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import clean_name
from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.sources.dicom.body_region import body_region
from wardround.building.sources.dicom.identifiers import collect_identifiers
from wardround.building.sources.dicom.secret import Secret
from wardround.building.sources.study_table.study_map import StudyMap
from wardround.building.text.modality import modality_of
from wardround.cases.importing.cells import UNKNOWN, as_age, as_images, as_names, as_sex, as_text
from wardround.cases.importing.table_files import find_tables, table_rows
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.core.errors import BadInput, Problem

Row = dict[str, Any]
SHARED = ("diagnosis", "history", "findings", "specialty", "cluster")  # of all rows of one study


def read_table(source: Path, study_map: StudyMap, problems: list[Problem]) -> list[tuple[RecordPlace, Row]]:
    """All rows. A column that the map names and the table lacks is refused."""
    layout = study_map.file_layout
    rows = [placed for file in find_tables(source, layout) for placed in table_rows(file, layout, problems)]
    if not rows:
        raise BadInput(source, "has no row")
    for place, row in rows[:1]:
        if missing := sorted(study_map.read_columns - row.keys()):
            raise BadInput(place.file, f"has no column {missing[0]!r}; its columns are {', '.join(row)}"[:500])
    return rows


class _UnusableCell(Exception):
    """Why a row cannot be used, and the column that says so. What the cell holds is not told: it may be a name."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(column, reason)
        self.column, self.reason = column, reason


def study_records(
    rows: Iterable[tuple[RecordPlace, Row]], study_map: StudyMap, secret: Secret, build: Build, names: list[Any]
) -> Iterator[Record]:
    """One record for each study. Rows that cannot be used are rejected by their line, without what they say."""
    record_by_study: dict[str, Record] = {}
    for number, (place, row) in enumerate(rows):
        line = f"row-{place.line or number + 1}"
        try:
            record = _record(place.file, row, study_map)
        except _UnusableCell as error:
            build.reject_unreadable(line, error.reason, f"column {error.column}")
            continue
        if record is None:
            build.reject({"id": line}, "read", "left out by the map")
            continue
        if record["age"] is None and as_text(row.get(study_map.age or "")).lower() not in UNKNOWN:
            build.note(f"{line}: has an age that cannot be read; it is kept without one: column {study_map.age}")
        patient = as_text(row[study_map.patient])
        own = as_text(row.get(study_map.study or "")) or f"{place.file.name} {line}"
        record |= {"id": secret.name("study", patient, own), "cluster": secret.name("patient", patient)}
        first = record_by_study.setdefault(record["id"], record)
        if first is not record:
            if differing := next((field for field in SHARED if first[field] != record[field]), None):
                build.reject_unreadable(line, f"another {differing} than the first row of its study")
                continue
            first["images"] += record["images"]
        names += [(record["id"], line), (record["cluster"], f"patient {patient}")]
    yield from record_by_study.values()


def _record(file: Path, row: Row, study_map: StudyMap) -> Record | None:
    """The fields of one row; None if the map leaves it out. _UnusableCell says what is missing."""
    label = as_text(row.get(study_map.diagnosis))
    if any(as_text(row.get(column)) not in wanted for column, wanted in study_map.only.items()):
        return None
    diagnosis = study_map.names.get(label, label)
    if label in study_map.names and not diagnosis:
        return None
    if diagnosis.lower() in UNKNOWN:
        raise _UnusableCell(study_map.diagnosis, "has no diagnosis")
    if as_text(row.get(study_map.patient)).lower() in UNKNOWN:
        raise _UnusableCell(study_map.patient, "has no patient")
    modality = as_text(row.get(study_map.modality or "")) or study_map.modality_is or ""
    region = as_text(row.get(study_map.region or "")) or study_map.region_is or ""
    known = [as_text(row.get(column)) for column in study_map.identifiers]
    identifiers = collect_identifiers(known, [as_text(row[study_map.patient]), *known], [])
    modality = modality_of([modality]) or modality
    images = [
        {
            "file": str(_find_image(file, column, cell, study_map.image_folders)),
            "modality": modality or None,
            "frame": None,
        }
        for column in study_map.images
        for cell in as_images(row.get(column))
    ]
    if not images:
        raise _UnusableCell(", ".join(study_map.images), "has no image")
    return {
        "images": images,
        "identifiers": [sorted(words) for words in (identifiers.names, identifiers.ids, identifiers.places)],
        "age": _age(row.get(study_map.age or "")),
        "sex": as_sex(row.get(study_map.sex or "")),
        "specialty": as_text(row.get(study_map.specialty or "")) or None,
        "row": {"split": as_text(row.get(study_map.split or ""))},
        "modality": modality,
        "region": body_region(region) or region.lower(),
        "history": _joined(row, study_map.history),
        "findings": _joined(row, study_map.findings),
        "diagnosis": clean_name(diagnosis),
        "accept": [name for column in study_map.accept for name in as_names(row.get(column))],
    }


def _find_image(table: Path, column: str, cell: Any, folders: list[str]) -> Path:
    if not isinstance(cell, str):
        raise _UnusableCell(column, "has an image inside the table; expected the name of a file")
    if "://" in cell:
        raise _UnusableCell(column, "has the address of an image; save the file first")
    path = path_inside(cell)
    places = (table.parent / folder / path for folder in ("", *folders))
    if file := next((place for place in places if place.is_file()), None):
        return file
    reason = "has an image that is not beside the table or in an image folder (key image_folders of the map)"
    raise _UnusableCell(column, reason)


def _age(value: Any) -> float | None:
    try:
        return as_age(value)
    except ValueError:
        return None


def _joined(row: Row, columns: Iterable[str]) -> str:
    return "\n\n".join(text for column in columns if (text := as_text(row.get(column))).lower() not in UNKNOWN)
