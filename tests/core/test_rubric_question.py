"""A rubric question: criteria with points; what does not fit is refused with one clear line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from exam_study import wardround, write_cases

from wardround.core.case import Case

CRITERIA = [
    {"id": "ecg", "text": "Advises an ECG", "points": 5, "axis": "accuracy", "tags": ["level:example"], "note": "kept"},
    {"id": "dose", "text": "Names a wrong dose", "points": -3},
]


def rubric_case(**fields: Any) -> dict[str, Any]:
    question = {"id": "advice", "kind": "rubric", "prompt": "What now?", "criteria": CRITERIA, "source": 7}
    return {"id": "case-1", "questions": [question | fields]}


def test_a_rubric_survives_a_round_trip_with_its_unknown_fields() -> None:
    record = rubric_case(conversation=[{"role": "user", "content": "Hello", "at": 1}])
    assert Case.model_validate(record).as_written() == record


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"criteria": []}, "a rubric needs criteria"),
        ({"criteria": [CRITERIA[1]]}, "at least one criterion with points above 0"),
        ({"criteria": [CRITERIA[0], CRITERIA[0]]}, "criterion id 'ecg' is used twice"),
        ({"criteria": [CRITERIA[0] | {"points": 0}]}, "criterion 'ecg' has 0 points"),
        ({"criteria": [CRITERIA[0] | {"points": "many"}]}, "points"),
        ({"criteria": [CRITERIA[0] | {"text": " "}]}, "criterion 'ecg' has an empty text"),
        ({"options": ["a", "b"]}, "a rubric question has no options"),
        ({"chain": "c"}, "cannot be part of a chain"),
        ({"gold": 1}, "gold of a rubric question is an ideal answer"),
        ({"kind": "open", "gold": "Gout"}, 'criteria are of kind = "rubric"'),
        ({"conversation": [{"role": "tool", "content": "x"}]}, "role"),
    ],
)
def test_a_bad_rubric_is_one_line_with_file_and_line(tmp_path, fields: dict[str, Any], problem: str) -> None:
    write_cases(tmp_path / "cases", [rubric_case(**fields)])
    ended = wardround("cases", "validate", "cases", cwd=tmp_path)
    assert ended.returncode == 1
    line = next(line for line in (ended.stdout + ended.stderr).splitlines() if problem in line)
    assert "cases.jsonl" in line


def test_cases_show_prints_points_and_conversation(tmp_path) -> None:
    write_cases(tmp_path / "cases", [rubric_case(conversation=[{"role": "user", "content": "Hello"}])])
    shown = wardround("cases", "show", "cases", "case-1", cwd=tmp_path).stdout
    assert "user: Hello" in shown
    assert "+5  Advises an ECG  (accuracy)" in shown
    assert "-3  Names a wrong dose" in shown


def test_other_kinds_still_need_a_gold() -> None:
    record = {"id": "a", "questions": [{"id": "q", "kind": "open", "prompt": "?"}]}
    with pytest.raises(ValueError, match="gold is required"):
        Case.model_validate_json(json.dumps(record))
