"""Rows meet studies: a row takes the study that it names, or all of its patient's that no other row names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from wardround.building.distractors.options import tidy
from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.pipeline.table_rows import Row
from wardround.building.sources.dicom.identifiers import NOTHING, Known
from wardround.building.sources.dicom.secret import Secret

Study = dict[str, Any]


def matched(
    rows: list[Row], there: dict[str, Study], secret: Secret, build: Build, names: list[tuple[str, str]]
) -> Iterator[Record]:
    """One record a row. Rows and studies that stay alone are told to the build, without whose they are."""
    taken: dict[str, int] = {}
    for row, found in _claims(rows, there):
        problem = _problem(row, found, taken)
        if problem:
            build.note(f"line {row.line} of the table: {problem}; left out")
            build.reject({"id": f"row-{row.line}"}, "read", problem)
            continue
        taken |= {study["study"]: row.line for study in found}
        record = _record(row, found, secret)
        names += [(record["id"], f"study {study['study']}") for study in found]
        names.append((record["id"], f"line {row.line}"))
        names.append((record["cluster"], f"patient {found[0]['patient']}"))
        yield record
    for uid in there:
        if uid not in taken:
            build.reject({"id": secret.name("study", uid)}, "read", "a study without a row in the table")
            names.append((secret.name("study", uid), f"study {uid}"))


def _claims(rows: list[Row], there: dict[str, Study]) -> Iterator[tuple[Row, list[Study]]]:
    """Each row with its studies: those named by a study or accession first come off the patient's."""
    named = [_named(row, there) for row in rows]
    gone = {study["study"] for found in named for study in found}
    for row, found in zip(rows, named, strict=True):
        if row.told.get("study") or row.told.get("accession"):
            yield row, found
        else:
            patient = row.told.get("patient")
            yield row, [s for s in there.values() if patient and s["patient"] == patient and s["study"] not in gone]


def _named(row: Row, there: dict[str, Study]) -> list[Study]:
    if uid := row.told.get("study"):
        return [there[uid]] if uid in there else []
    if accession := row.told.get("accession"):
        return [study for study in there.values() if study["accession"] == accession]
    return []


def _problem(row: Row, found: list[Study], taken: dict[str, int]) -> str | None:
    for name in ("history", "diagnosis"):
        if not row.told.get(name):
            return f"a row without a {name}"
    if not found:
        return "a row without a study"
    if other := next((taken[study["study"]] for study in found if study["study"] in taken), None):
        return f"the study is already that of line {other}"
    if len({study["patient"] for study in found}) > 1:
        return "the accession number is that of several patients"
    return None


def _record(row: Row, found: list[Study], secret: Secret) -> Record:
    first = found[0]
    known = reduce(Known.__or__, [known for study in found for known in study["known"]], NOTHING)
    return {
        "id": secret.name("dicom", first["study"]),
        "cluster": secret.name("patient", first["patient"] or first["study"]),
        "row": {name: row.told[name] for name in ("modality", "split") if row.told.get(name)},
        "images": [image for study in found for image in study["images"]],
        "known": [sorted(words) for words in (known.names, known.ids, known.places)],
        "age": first["age"] if row.age is None else row.age,
        "sex": row.sex or first["sex"],
        "specialty": row.told.get("specialty") or None,
        "history": row.told["history"],
        "findings": row.told.get("findings", ""),
        "diagnosis": tidy(row.told["diagnosis"]),
        "accept": row.listed("accept"),
        "given": row.listed("options"),
    }
