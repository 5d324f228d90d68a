"""The table of images: each row becomes a record with labels in the schema's terms, or is rejected."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from wardround.building.pipeline.image_files import decode_image
from wardround.building.pipeline.pipeline import Build, Record, Reject
from wardround.building.pipeline.table_rows import SourceRow, read_rows
from wardround.building.sources.ophthalmic.public_sets import public_sets
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, EyeDisease, EyeSchema
from wardround.core.errors import BadInput

NAMES = {  # other accepted names of each column
    "image": ("image_path", "path", "file"),
    "disease": ("diagnosis", "label"),
    "patient": ("patient_id", "subject"),
    "case": ("case_id", "visit"),
    "eye": ("side", "laterality"),
    "date": ("visit_date", "acquisition_date", "study_date"),
    "lesions": ("lesion",),
    "anatomy": ("region", "regions"),
    "grade": ("severity",),
    "sex": ("gender",),
    "history": ("clinical_history",),
    "source": ("dataset",),
    **dict.fromkeys(("modality", "quality", "age", "split", "level", "importance"), ()),
}
MAX_LISTED = 12  # values in a message without a close match
REQUIRED = ("image", "modality", "disease")
EYES = {"r": "right", "od": "right", "right": "right", "l": "left", "os": "left", "left": "left", "": ""}


def read_labels(table: Path, note: Callable[[str], None]) -> list[SourceRow]:
    """The rows, including incomplete ones."""
    if table.is_dir():
        raise BadInput(table, f"is a folder; for a public set name its layout: --layout {'|'.join(public_sets())}")
    columns, rows = read_rows(table, NAMES, note)
    if missing := [name for name in REQUIRED if name not in columns]:
        raise BadInput(table, f"expected the columns {', '.join(REQUIRED)}; {', '.join(missing)} missing", line=1)
    if not rows:
        raise BadInput(table, "has no rows")
    return rows


def label_rows(rows: Iterable[SourceRow], table: Path, schema: EyeSchema, build: Build) -> Iterator[Record]:
    """Each row in the schema's terms. A row with a problem is reported in one line and rejected."""
    for row in rows:
        id = f"line {row.line}"
        try:
            yield {"id": id, "line": row.line, **_labels(row, table.parent, schema)}
        except Reject as reject:
            build.reject({"id": id}, "read", reject.reason, reject.detail)
            build.note(f"{table.name}:{row.line}: {reject.reason}{f': {reject.detail}' if reject.detail else ''}")


def _labels(row: SourceRow, folder: Path, schema: EyeSchema) -> Record:
    for name in REQUIRED:
        if not row.cells.get(name):
            raise Reject(f"{name} is empty")
    disease = _one_of(row, "disease", schema.disease_by_name)
    schema_disease = schema.diseases[disease]
    modality = _one_of(row, "modality", {name.lower(): name for name in schema.modalities})
    if modality not in schema_disease.modalities:
        raise Reject("the schema does not have the disease on this modality", f"{disease} on {modality}")
    qualities = {name.lower(): name for name in schema.quality}
    quality = _one_of(row, "quality", qualities) if row.cells.get("quality") else ""
    names = schema_disease.grades.items()
    grades = {name.lower(): code for code, name in names} | {code.lower(): code for code, _ in names}
    return {
        "image": _image(folder / row.cells["image"]),
        "modality": modality,
        "disease": disease,
        "quality": quality,
        "anatomy": _visible(row, "anatomy", schema.anatomy, schema_disease, modality),
        "lesions": _visible(row, "lesions", schema.lesions, schema_disease, modality),
        "grade": _one_of(row, "grade", grades) if row.cells.get("grade") and quality != UNGRADABLE else None,
        "eye": _one_of(row, "eye", EYES) if row.cells.get("eye") else "",
        "date": _date(row),
        "patient": row.cells.get("patient", ""),
        "case": row.cells.get("case", ""),
        "age": row.age,
        "sex": row.sex,
        "history": row.cells.get("history", ""),
        "split": row.cells.get("split", ""),
        "level": _one_of(row, "level", {"r": "R", "a": "A", "s": "S"}) if row.cells.get("level") else None,
        "importance": _number(row, "importance"),
        "source": row.cells.get("source", ""),
    }


def _one_of(row: SourceRow, name: str, known: Mapping[str, str]) -> str:
    value = row.cells[name]
    if (term := known.get(value.lower())) is not None:
        return term
    raise Reject(f"unknown {name}", f"{value!r}{_suggestion(value, known)}")


def _suggestion(value: str, known: Iterable[str], allowed: Sequence[str] = ()) -> str:
    """The nearest known name; without one, those that are allowed here, or all if they are few."""
    names = [name for name in known if name]
    if close := difflib.get_close_matches(value.lower(), names, 1):
        return f"; did you mean {close[0]!r}?"
    listed = allowed or (names if len(names) <= MAX_LISTED else difflib.get_close_matches(value.lower(), names, 5, 0.0))
    word = "expected some of" if allowed else "there are" if len(names) <= MAX_LISTED else "the nearest are"
    return f"; {word} {', '.join(map(repr, listed))}"


def _visible(
    row: SourceRow, column: str, modalities_by_term: Mapping[str, list[str]], disease: EyeDisease, modality: str
) -> list[str]:
    """The regions or lesions of a row, the main one first: those of the disease that the modality shows."""
    of_disease: list[str] = getattr(disease, column)
    term_by_name = {term.lower(): term for term in modalities_by_term}
    allowed = [term for term in of_disease if modality in modalities_by_term[term]]
    listed = f"; expected some of {', '.join(allowed)}" if allowed else f"; this disease has no {column} on {modality}"
    terms = []
    for value in row.listed(column) or (of_disease if disease.healthy else []):
        if value.lower() not in term_by_name:
            raise Reject(f"unknown {column}", f"{value!r}{_suggestion(value, term_by_name, allowed)}")
        term = term_by_name[value.lower()]
        if modality not in modalities_by_term[term]:
            raise Reject(f"{column} that the modality does not show", f"{term!r} on {modality}{listed}")
        if term not in of_disease:
            raise Reject(f"{column} that the schema does not have with the disease", f"{term!r}{listed}")
        terms.append(term)
    return list(dict.fromkeys(terms))


def _number(row: SourceRow, name: str) -> float | None:
    if not row.cells.get(name):
        return None
    try:
        number = float(row.cells[name])
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise Reject(f"{name} is not a number of at least 0", repr(row.cells[name]))
    return number


def _date(row: SourceRow) -> str:
    """The day of the image in ISO form; `20260130`, as DICOM has it, is accepted too."""
    text = row.cells.get("date", "")
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise Reject("unknown date", f"{text!r}; expected YYYY-MM-DD") from None


def _image(file: Path) -> str:
    if not file.is_file():
        raise Reject("there is no such image", file.name)
    if decode_image(file) is None:
        raise Reject("the image cannot be decoded", file.name)
    return str(file)
