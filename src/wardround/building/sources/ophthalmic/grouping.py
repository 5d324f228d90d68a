"""Rows become cases: the images of one `case`, else of one patient, else a row alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool

STEP = "cases"
FIRST = ("age", "sex", "history", "source")  # what the first row that tells it tells of the whole case


def grouped() -> Step:
    """A step that makes one record of all rows of a case. Ids tell nothing; the lines of the table are kept."""

    def does(records: Spool, build: Build) -> Iterator[Record]:
        groups: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            groups.setdefault(_key(record), []).append(record)
        clusters: dict[str, str] = {}
        for number, rows in enumerate(groups.values(), start=1):
            id = f"eye-{number:05d}"
            patient = next((row["patient"] for row in rows if row["patient"]), "")
            cluster = clusters.setdefault(patient, f"patient-{len(clusters) + 1:05d}") if patient else id
            yield _case(id, cluster, rows)

    def change(records: Spool, build: Build) -> Iterator[Record]:
        cases = Spool(does(records, build), build.folder)
        splits: dict[str, set[str]] = {}
        for case in cases:
            splits.setdefault(case["cluster"], set()).update(row["split"] for row in case["rows"] if row["split"])
        for case in cases:
            if len(told := sorted(splits[case["cluster"]])) > 1:
                build.reject(case, STEP, "one patient is in several splits", f"{_lines(case)}: {', '.join(told)}")
            else:
                yield case | {"split": told[0] if told else ""}

    return whole(STEP, change)


def _key(record: Record) -> tuple[str, str]:
    if record["case"]:
        return record["patient"], record["case"]
    return (record["patient"], "") if record["patient"] else ("", record["id"])


def _case(id: str, cluster: str, rows: list[Record]) -> Record:
    first: dict[str, Any] = {name: next((row[name] for row in rows if row[name]), None) for name in FIRST}
    images = {row["image"]: row["modality"] for row in rows}  # one image may have rows for two diseases
    return {
        "id": id,
        "cluster": cluster,
        **first,
        "history": first["history"] or _told_of(first["age"], first["sex"]),
        "images": [{"file": file, "modality": modality} for file, modality in images.items()],
        "rows": [row | {"shows": list(images).index(row["image"])} for row in rows],
    }


def _told_of(age: float | None, sex: str | None) -> str:
    """Where the table has no history: the patient in a few words."""
    who = {"F": "A female patient", "M": "A male patient"}.get(sex or "", "A patient")
    if age is None:
        return f"{who}." if sex else ""
    return f"{who}, {age:g} years old." if age >= 1 else f"{who}, an infant."


def _lines(case: Record) -> str:
    return ", ".join(row["id"] for row in case["rows"])
