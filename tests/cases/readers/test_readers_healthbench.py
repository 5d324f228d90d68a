"""HealthBench's layout becomes rubric questions; lines that cannot be used are named with their field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exam_study import wardround

from wardround.cases.readers.healthbench import read_healthbench

EXAMPLE: dict[str, Any] = {
    "prompt": [
        {"role": "user", "content": "My chest hurts."},
        {"role": "assistant", "content": "Since when?"},
        {"role": "user", "content": "Since noon."},
    ],
    "prompt_id": "p-1",
    "rubrics": [
        {"criterion": "Advises emergency care", "points": 10, "tags": ["level:example", "axis:completeness"]},
        {"criterion": "Is overly verbose", "points": -3, "tags": ["level:example", "axis:communication_quality"]},
    ],
    "example_tags": ["theme:emergency_referrals"],
    "ideal_completions_data": {"ideal_completion": "Call an ambulance.", "ideal_completions_group": "Group 1"},
    "canary": "c",
}


def write(folder: Path, *records: dict[str, Any]) -> Path:
    file = folder / "healthbench.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


def test_an_example_becomes_a_rubric_question_with_its_conversation(tmp_path: Path) -> None:
    (case,) = read_healthbench(write(tmp_path, EXAMPLE))
    (question,) = case.questions
    assert (case.id, case.tags) == ("healthbench-p-1", ["theme:emergency_referrals"])
    assert question.prompt == "Since noon."
    assert [(said.role, said.content) for said in question.conversation] == [
        ("user", "My chest hurts."),
        ("assistant", "Since when?"),
    ]
    assert [(item.points, item.axis) for item in question.criteria] == [
        (10, "completeness"),
        (-3, "communication_quality"),
    ]
    assert question.gold == "Call an ambulance."
    assert question.model_extra == {"canary": "c"}


def test_lines_that_cannot_be_used_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = [
        EXAMPLE | {"prompt_id": "a", "prompt": []},
        EXAMPLE | {"prompt_id": "b", "prompt": [{"role": "assistant", "content": "Hello"}]},
        EXAMPLE | {"prompt_id": "c", "rubrics": [{"criterion": "x", "points": "5", "tags": []}]},
        EXAMPLE | {"prompt_id": "d", "rubrics": [{"criterion": "x", "points": -5, "tags": []}]},
        EXAMPLE | {"prompt_id": "e", "rubrics": "none"},
    ]
    cases = read_healthbench(write(tmp_path, *bad, EXAMPLE | {"ideal_completions_data": None}))
    assert [case.questions[0].gold for case in cases] == [""]
    problems = [str(problem) for problem in cases.problems]
    expected = ["not a list of messages", "ends with", "points '5'", "points above 0", "not a list of criteria"]
    assert len(problems) == 5
    for number, (problem, words) in enumerate(zip(problems, expected, strict=True), 1):
        assert words in problem
        assert f"healthbench.jsonl:{number}" in problem or f"line {number}" in problem


def test_it_is_converted_by_the_command(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)
    ended = wardround("cases", "convert", "healthbench.jsonl", "--from", "healthbench", "--out", "set", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    record = json.loads((tmp_path / "set" / "cases.jsonl").read_text(encoding="utf-8"))
    assert record["questions"][0]["kind"] == "rubric"
