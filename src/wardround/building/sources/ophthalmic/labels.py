"""The table of images: each row becomes a record with its labels in the words of the schema, or is left out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from wardround.building.pipeline.image_files import shown
from wardround.building.pipeline.pipeline import Build, Reject
from wardround.building.pipeline.records import Record
from wardround.building.pipeline.table_rows import Row, read_rows
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, Schema
from wardround.core.errors import BadInput

NAMES = {  # what a column may be called
    "image": ("image", "image_path", "path", "file"),
    "modality": ("modality",),
    "disease": ("disease", "diagnosis", "label"),
    "patient": ("patient", "patient_id", "subject"),
    "case": ("case", "case_id", "visit"),
    "eye": ("eye", "side", "laterality"),
    "lesions": ("lesions", "lesion"),
    "anatomy": ("anatomy", "region", "regions"),
    "grade": ("grade", "severity"),
    "quality": ("quality",),
    "age": ("age",),
    "sex": ("sex", "gender"),
    "history": ("history", "clinical_history"),
    "split": ("split",),
    "level": ("level",),
    "importance": ("importance",),
    "source": ("source", "dataset"),
}
FEW = 12  # values that are listed where none comes close
NEEDED = ("image", "modality", "disease")
EYES = {"r": "right", "od": "right", "right": "right", "l": "left", "os": "left", "left": "left", "": ""}


def read_labels(table: Path, note: Callable[[str], None]) -> list[Row]:
    """The rows, those too that lack something."""
    there, rows = read_rows(table, NAMES, note)
    if lacking := [name for name in NEEDED if name not in there]:
        raise BadInput(table, f"expected the columns {', '.join(NEEDED)}; {', '.join(lacking)} missing", line=1)
    if not rows:
        raise BadInput(table, "has no rows")
    return rows


def labelled(rows: Iterable[Row], table: Path, schema: Schema, build: Build) -> Iterator[Record]:
    """Each row in the words of the schema. One that is wrong is told in one line, and counted."""
    for row in rows:
        id = f"line {row.line}"
        try:
            yield {"id": id, "line": row.line, **_labels(row, table.parent, schema)}
        except Reject as reject:
            build.reject({"id": id}, "read", reject.reason, reject.detail)
            build.note(f"{table.name}:{row.line}: {reject.reason}{f': {reject.detail}' if reject.detail else ''}")


def _labels(row: Row, folder: Path, schema: Schema) -> Record:
    for name in NEEDED:
        if not row.told.get(name):
            raise Reject(f"{name} is empty")
    disease = _one_of(row, "disease", schema.called)
    known = schema.diseases[disease]
    modality = _one_of(row, "modality", {name.lower(): name for name in schema.modalities})
    if modality not in known.modalities:
        raise Reject("the schema does not have the disease on this modality", f"{disease} on {modality}")
    quality = (
        _one_of(row, "quality", {name.lower(): name for name in schema.quality}) if row.told.get("quality") else ""
    )
    grades = {name.lower(): code for code, name in known.grades.items()} | {code.lower(): code for code in known.grades}
    return {
        "image": _image(folder / row.told["image"]),
        "modality": modality,
        "disease": disease,
        "quality": quality,
        "anatomy": _seen(row, "anatomy", schema.anatomy, known.anatomy, modality, known.healthy),
        "lesions": _seen(row, "lesions", schema.lesions, known.lesions, modality, known.healthy),
        "grade": _one_of(row, "grade", grades) if row.told.get("grade") and quality != UNGRADABLE else None,
        "eye": _one_of(row, "eye", EYES) if row.told.get("eye") else "",
        "patient": row.told.get("patient", ""),
        "case": row.told.get("case", ""),
        "age": row.age,
        "sex": row.sex,
        "history": row.told.get("history", ""),
        "split": row.told.get("split", ""),
        "level": _one_of(row, "level", {"r": "R", "a": "A", "s": "S"}) if row.told.get("level") else None,
        "importance": _number(row, "importance"),
        "source": row.told.get("source", ""),
    }


def _one_of(row: Row, name: str, known: Mapping[str, str]) -> str:
    told = row.told[name]
    if (found := known.get(told.lower())) is not None:
        return found
    raise Reject(f"unknown {name}", f"{told!r}{_near(told, known)}")


def _near(told: str, known: Iterable[str]) -> str:
    names = [name for name in known if name]
    if near := difflib.get_close_matches(told.lower(), names, 1):
        return f"; did you mean {near[0]!r}?"
    return f"; there are {', '.join(map(repr, names))}" if len(names) <= FEW else ""


def _seen(
    row: Row, name: str, all_of: Mapping[str, list[str]], of_disease: list[str], modality: str, healthy: bool
) -> list[str]:
    """The regions or lesions of a row, the main one first: of the disease, and to be seen on the modality."""
    names = {known.lower(): known for known in all_of}
    found = []
    for told in row.listed(name) or (of_disease if healthy else []):
        if told.lower() not in names:
            raise Reject(f"unknown {name}", f"{told!r}{_near(told, names)}")
        known = names[told.lower()]
        if modality not in all_of[known]:
            raise Reject(f"{name} that the modality does not show", f"{known!r} on {modality}")
        if known not in of_disease:
            raise Reject(f"{name} that the schema does not have with the disease", f"{known!r}")
        found.append(known)
    return list(dict.fromkeys(found))


def _number(row: Row, name: str) -> float | None:
    if not row.told.get(name):
        return None
    try:
        number = float(row.told[name])
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise Reject(f"{name} is no number of 0 or more", repr(row.told[name]))
    return number


def _image(file: Path) -> str:
    if not file.is_file():
        raise Reject("there is no such image", file.name)
    if shown(file) is None:
        raise Reject("the image cannot be decoded", file.name)
    return str(file)
