"""The hospital's table of histories and diagnoses, one row per case, and the studies that belong to each row.

A row has the study that it names, or all studies of its patient that no other row names.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import clean_name
from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.pipeline.table_rows import SourceRow, read_rows
from wardround.building.sources.dicom.body_region import body_region
from wardround.building.sources.dicom.identifiers import NO_IDENTIFIERS, PatientIdentifiers
from wardround.building.sources.dicom.secret import Secret
from wardround.core.errors import BadInput

Study = dict[str, Any]
NAMES = {  # other accepted names of each column
    "patient": ("patient_id", "patientid", "mrn"),
    "study": ("study_uid", "study_instance_uid", "studyinstanceuid"),
    "accession": ("accession_number", "accessionnumber"),
    "history": ("clinical_history",),
    "diagnosis": ("final_diagnosis",),
    "accept": ("synonyms",),
    "options": ("distractors", "differential"),
    "specialty": ("section",),
    "sex": ("gender",),
    "region": ("body_part", "body_region"),
    **dict.fromkeys(("findings", "modality", "split", "age"), ()),
}
KEYS = ("study", "accession", "patient")


def read_histories(file: Path, note: Callable[[str], None]) -> list[SourceRow]:
    """The rows, including incomplete ones."""
    columns, rows = read_rows(file, NAMES, note)
    if not {"history", "diagnosis"} <= columns or not columns & set(KEYS):
        raise BadInput(file, f"expected the columns history, diagnosis and one of {', '.join(KEYS)}", line=1)
    return rows


def match_rows(
    rows: list[SourceRow], studies_by_uid: dict[str, Study], secret: Secret, build: Build, names: list[tuple[str, str]]
) -> Iterator[Record]:
    """One record per row. Rows and studies without a partner are reported, without identifiers."""
    line_by_study: dict[str, int] = {}
    for row, row_studies in _studies_by_row(rows, studies_by_uid):
        problem = _problem(row, row_studies, line_by_study)
        if problem:
            build.note(f"line {row.line} of the table: {problem}; left out")
            build.reject({"id": f"row-{row.line}"}, "read", problem)
            continue
        line_by_study |= {study["study"]: row.line for study in row_studies}
        record = _record(row, row_studies, secret)
        names += [(record["id"], f"study {study['study']}") for study in row_studies]
        names.append((record["id"], f"line {row.line}"))
        names.append((record["cluster"], f"patient {row_studies[0]['patient']}"))
        yield record
    for uid in studies_by_uid:
        if uid not in line_by_study:
            build.reject({"id": secret.name("study", uid)}, "read", "a study without a row in the table")
            names.append((secret.name("study", uid), f"study {uid}"))


def _studies_by_row(rows: list[SourceRow], studies_by_uid: dict[str, Study]) -> Iterator[tuple[SourceRow, list[Study]]]:
    """Each row with its studies. Studies that a row names by study or accession are not shared with other rows."""
    named_studies = [_find_named_studies(row, studies_by_uid) for row in rows]
    claimed = {study["study"] for row_studies in named_studies for study in row_studies}
    for row, row_studies in zip(rows, named_studies, strict=True):
        if row.cells.get("study") or row.cells.get("accession"):
            yield row, row_studies
        else:
            patient = row.cells.get("patient")
            free = [study for uid, study in studies_by_uid.items() if uid not in claimed]
            yield row, [study for study in free if patient and study["patient"] == patient]


def _find_named_studies(row: SourceRow, studies_by_uid: dict[str, Study]) -> list[Study]:
    if uid := row.cells.get("study"):
        return [studies_by_uid[uid]] if uid in studies_by_uid else []
    if accession := row.cells.get("accession"):
        return [study for study in studies_by_uid.values() if study["accession"] == accession]
    return []


def _problem(row: SourceRow, row_studies: list[Study], line_by_study: dict[str, int]) -> str | None:
    for name in ("history", "diagnosis"):
        if not row.cells.get(name):
            return f"a row without a {name}"
    if not row_studies:
        return "a row without a study"
    if other := next((line_by_study[study["study"]] for study in row_studies if study["study"] in line_by_study), None):
        return f"the study is already that of line {other}"
    if len({study["patient"] for study in row_studies}) > 1:
        return "the accession number is that of several patients"
    return None


def _record(row: SourceRow, row_studies: list[Study], secret: Secret) -> Record:
    first = row_studies[0]
    headers = [identifiers for study in row_studies for identifiers in study["identifiers"]]
    identifiers = reduce(PatientIdentifiers.__or__, headers, NO_IDENTIFIERS)
    return {
        "id": secret.name("dicom", first["study"]),
        "cluster": secret.name("patient", first["patient"] or first["study"]),
        "row": {name: row.cells[name] for name in ("modality", "split") if row.cells.get(name)},
        "images": [image for study in row_studies for image in study["images"]],
        "identifiers": [sorted(words) for words in (identifiers.names, identifiers.ids, identifiers.places)],
        "age": first["age"] if row.age is None else row.age,
        "sex": row.sex or first["sex"],
        "specialty": row.cells.get("specialty") or None,
        "region": body_region(row.cells.get("region", "")) or first["region"] or body_region(row.cells["diagnosis"]),
        "history": row.cells["history"],
        "findings": row.cells.get("findings", ""),
        "diagnosis": clean_name(row.cells["diagnosis"]),
        "accept": row.listed("accept"),
        "offered": row.listed("options"),
    }
