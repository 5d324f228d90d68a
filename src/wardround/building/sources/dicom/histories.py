"""The table of histories and diagnoses that a hospital gives: one row is one case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.building.pipeline.table_rows import Row, read_rows
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


def read_histories(file: Path, note: Callable[[str], None]) -> list[Row]:
    """The rows, those too that lack something."""
    there, rows = read_rows(file, NAMES, note)
    if not {"history", "diagnosis"} <= there or not there & set(WHOSE):
        wanted = "history, diagnosis and one of study, accession, patient"
        raise BadInput(file, f"expected the columns {wanted}", line=1)
    return rows
