"""The step `cases`: the images of one eye at one visit become one case.

Rows with one `case`, else of one patient, belong together; without both a row is a case of its own. They are split by
eye, and by date: a visit has the images that were taken within so many days of its first. Images of another eye or
visit never share a case. A row whose date lies outside the visit that its `case` names is rejected.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step

GROUPING = "cases"
WITHIN_DAYS = 7  # our choice: the paper says the same period
SHARED = ("age", "sex", "history", "source")  # of the whole case: from the first row that has it
Rows = list[Record]


def grouping_step(within_days: int = WITHIN_DAYS) -> Step:
    """Makes one record of all rows of a case, with a neutral id; the lines of the table are kept."""

    def group(records: RecordFile, build: Build) -> Iterator[Record]:
        groups: dict[tuple[str, str], Rows] = {}
        for record in records:
            groups.setdefault(_group_key(record), []).append(record)
        clusters: dict[str, str] = {}
        number = apart = 0
        for rows in groups.values():
            visits = list(_visits(rows, within_days, build))
            apart += len(visits) - 1
            for visit in visits:
                number += 1
                id = f"eye-{number:05d}"
                patient = next((row["patient"] for row in rows if row["patient"]), "")
                cluster = clusters.setdefault(patient, f"patient-{len(clusters) + 1:05d}") if patient else id
                yield _group(id, cluster, visit)
        if apart:
            build.note(f"{apart} more cases, because images of another eye or visit do not share a case")

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        cases = RecordFile(group(records, build), build.folder)
        splits: dict[str, set[str]] = {}
        for case in cases:
            splits.setdefault(case["cluster"], set()).update(row["split"] for row in case["rows"] if row["split"])
        for case in cases:
            if len(names := sorted(splits[case["cluster"]])) > 1:
                lines = ", ".join(row["id"] for row in case["rows"])
                build.reject(case, GROUPING, "one patient is in several splits", f"{lines}: {', '.join(names)}")
            elif contradiction := _contradicting_grades(case["rows"]):
                build.reject(case, GROUPING, "contradictory grades of one eye at one visit", contradiction)
                build.note(f"contradictory grades of one eye at one visit: {contradiction}")
            else:
                yield case | {"split": names[0] if names else ""}

    return all_records_step(GROUPING, change)


def _contradicting_grades(rows: Rows) -> str | None:
    """The lines that grade one disease of one eye differently; without a side, of one image."""
    grades: dict[tuple[str, str], dict[str, str]] = {}  # by eye and disease: the first line of each grade
    for row in (row for row in rows if row["grade"]):
        grades.setdefault((row["eye"] or row["image"], row["disease"]), {}).setdefault(row["grade"], row["id"])
    for (_, disease), lines in grades.items():
        if len(lines) > 1:
            return f"{disease}: {', '.join(f'{line} says {grade}' for grade, line in lines.items())}"
    return None


def _group_key(record: Record) -> tuple[str, str]:
    if record["case"]:
        return record["patient"], record["case"]
    return (record["patient"], "") if record["patient"] else ("", record["id"])


def _visits(rows: Rows, within_days: int, build: Build) -> Iterator[Rows]:
    """The rows of each eye at each visit, the earliest first; rows without a date are a visit of their own."""
    by_eye: dict[str, Rows] = {}
    for row in rows:
        by_eye.setdefault(row["eye"], []).append(row)
    for own_rows in by_eye.values():
        visits: list[Rows] = []
        for row in sorted(own_rows, key=lambda row: row["date"]):
            if visits and _is_same_visit(visits[-1][0], row, within_days):
                visits[-1].append(row)
            else:
                visits.append([row])
        if own_rows[0]["case"] and len(visits) > 1:
            named = max(visits, key=len)
            for row in (row for visit in visits if visit is not named for row in visit):
                build.reject(row, GROUPING, "another visit than its case", _describe_gap(row, named[0], within_days))
            visits = [named]
        yield from (sorted(visit, key=lambda row: row["line"]) for visit in visits)


def _is_same_visit(first: Record, row: Record, within_days: int) -> bool:
    if not first["date"] or not row["date"]:
        return bool(first["date"] == row["date"])
    return _days_between(first, row) <= within_days


def _days_between(first: Record, row: Record) -> int:
    return (date.fromisoformat(row["date"]) - date.fromisoformat(first["date"])).days


def _describe_gap(row: Record, first: Record, within_days: int) -> str:
    if not row["date"] or not first["date"]:
        return "one has a date, the other has none"
    return f"{abs(_days_between(first, row))} days apart, at most {within_days} allowed (--within-days)"


def _group(id: str, cluster: str, rows: Rows) -> Record:
    shared: dict[str, Any] = {name: next((row[name] for row in rows if row[name]), None) for name in SHARED}
    images = {row["image"]: row["modality"] for row in rows}  # one image may have rows for two diseases
    diseases: dict[str, set[str]] = {}
    for row in rows:
        diseases.setdefault(row["eye"] or row["image"], set()).add(row["disease"])
    return {
        "id": id,
        "cluster": cluster,
        **shared,
        "history": shared["history"] or _describe_patient(shared["age"], shared["sex"]),
        "images": [{"file": file, "modality": modality} for file, modality in images.items()],
        "rows": [
            row
            | {"shows": list(images).index(row["image"])}
            | {"other_diseases": sorted(diseases[row["eye"] or row["image"]] - {row["disease"]})}
            for row in rows
        ],
    }


def _describe_patient(age: float | None, sex: str | None) -> str:
    """The history of a case whose rows have none."""
    who = {"F": "A female patient", "M": "A male patient"}.get(sex or "", "A patient")
    if age is None:
        return f"{who}." if sex else ""
    return f"{who}, {age:g} years old." if age >= 1 else f"{who}, an infant."
