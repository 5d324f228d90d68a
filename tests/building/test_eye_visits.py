"""`build ophthalmic`: images of another eye or visit never share a case."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from eye_table import eye_table, write_table

from wardround.building.pipeline.pipeline import EmptyBuild
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.cases.set import CaseSet


@pytest.fixture
def rows(tmp_path: Path) -> list[dict[str, str]]:
    """The three images of one eye with macular oedema (CFP, OCT, FFA)."""
    table = eye_table(tmp_path, patients=2)
    return [row for row in csv.DictReader(table.open()) if row["patient"] == "P001"]


def build(tmp_path: Path, rows: list[dict[str, str]], **options: int) -> tuple[list[list[str | None]], list[dict]]:
    """The modalities of each case, and the rejected records."""
    build_ophthalmic(write_table(tmp_path / "eyes.csv", rows), tmp_path / "set", **options)
    rejected = tmp_path / "set" / "rejected.jsonl"
    lines = rejected.read_text().splitlines() if rejected.exists() else []
    cases = CaseSet.open(tmp_path / "set", strict=True)
    return [[image.modality for image in case.images] for case in cases], [json.loads(line) for line in lines]


def dated(rows: list[dict[str, str]], *dates: str, **columns: str) -> list[dict[str, str]]:
    return [row | {"date": day} | columns for row, day in zip(rows, dates, strict=True)]


def test_images_within_the_days_are_one_visit(tmp_path, rows):
    cases, rejected = build(tmp_path, dated(rows, "2026-01-05", "2026-01-12", "20260105"))
    assert cases == [["CFP", "OCT", "FFA"]]
    assert rejected == []


def test_days_count_from_the_first_image_of_a_visit(tmp_path, rows):
    """Days 0, 6 and 12: the third lies six days after the second, and twelve after the first."""
    cases, _ = build(tmp_path, dated(rows, "2026-01-01", "2026-01-07", "2026-01-13"))
    assert cases == [["CFP", "OCT"], ["FFA"]]


def test_another_visit_is_a_case_of_the_same_patient(tmp_path, rows):
    table = dated(rows, "2026-01-05", "2026-03-05", "2026-03-06")
    cases, _ = build(tmp_path, table)
    assert cases == [["CFP"], ["OCT", "FFA"]]
    assert len({case.cluster for case in CaseSet.open(tmp_path / "set")}) == 1


def test_the_number_of_days_can_be_set(tmp_path, rows):
    table = dated(rows, "2026-01-05", "2026-03-05", "2026-03-06")
    assert build(tmp_path, table, within_days=60)[0] == [["CFP", "OCT", "FFA"]]


def test_the_other_eye_and_an_undated_image_are_cases_of_their_own(tmp_path, rows):
    rows[1]["eye"] = "OS" if rows[0]["eye"] == "OD" else "OD"
    cases, _ = build(tmp_path, dated(rows, "2026-01-05", "2026-01-05", ""))
    assert sorted(cases, key=str) == [["CFP"], ["FFA"], ["OCT"]]


def test_a_row_of_another_visit_than_its_case_is_rejected_and_counted(tmp_path, rows):
    cases, rejected = build(tmp_path, dated(rows, "2026-01-05", "2026-02-05", "2026-01-06", case="visit-1"))
    assert cases == [["CFP", "FFA"]]
    (line,) = rejected
    assert (line["record"], line["step"], line["reason"]) == ("line 3", "cases", "another visit than its case")
    assert line["detail"] == "31 days apart, at most 7 allowed (--within-days)"
    funnel = list(csv.DictReader((tmp_path / "set" / "funnel.csv").open()))
    (step,) = [count for count in funnel if count["step"] == "cases"]
    assert (step["records_in"], step["records_out"], step["reasons"]) == ("3", "1", "1 another visit than its case")


def test_a_date_in_another_form_is_one_line(tmp_path, rows):
    cases, rejected = build(tmp_path, dated(rows, "2026-01-05", "05.01.2026", "2026-01-05"))
    assert cases == [["CFP", "FFA"]]
    assert (rejected[0]["reason"], rejected[0]["detail"]) == ("unknown date", "'05.01.2026'; expected YYYY-MM-DD")


def test_contradictory_grades_of_one_eye_at_one_visit_are_reported_and_rejected(tmp_path, rows):
    table = dated(rows, "2026-01-05", "2026-01-05", "2026-01-05")
    for row, grade in zip(table, ("1", "2", "1"), strict=True):
        row["grade"] = grade
    with pytest.raises(EmptyBuild):
        build(tmp_path, table)
    (line,) = [json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines()]
    assert line["reason"] == "contradictory grades of one eye at one visit"
    assert "line 2 says 1, line 3 says 2" in line["detail"]


def test_grades_of_other_visits_may_differ(tmp_path, rows):
    table = dated(rows, "2026-01-05", "2026-06-05", "2026-06-05")
    for row, grade in zip(table, ("1", "2", "2"), strict=True):
        row["grade"] = grade
    assert len(build(tmp_path, table)[0]) == 2
