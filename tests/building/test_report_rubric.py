"""Findings of a reference report become criteria: present, absent, contradicted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exam_study import case, wardround, write_cases
from PIL import Image

from wardround.building.text.report_rubric import finding_criteria, split_findings

REPORT = (
    "The heart is enlarged. No pneumothorax or pleural effusion. There is a nodule in the left upper lobe.\nStable."
)


def test_sentences_are_findings_and_denied_ones_are_absent() -> None:
    assert split_findings(REPORT) == [
        ("The heart is enlarged.", False),
        ("No pneumothorax or pleural effusion.", True),
        ("There is a nodule in the left upper lobe.", False),
    ]


def test_each_finding_has_points_for_stating_and_against_contradicting_it() -> None:
    points = [(item["id"], item["points"], item["axis"]) for item in finding_criteria(REPORT)]
    assert points[:4] == [
        ("1-stated", 2, "present"),
        ("1-contradicted", -2, "contradicted"),
        ("2-stated", 1, "absent"),
        ("2-contradicted", -2, "contradicted"),
    ]


def test_the_command_hides_the_findings_and_keeps_the_case(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", [case(1, findings=REPORT, tags=["rare"], own_field=5)])
    ended = wardround("cases", "rubric", "cases", "--out", "reports", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    record = json.loads((tmp_path / "reports" / "cases.jsonl").read_text(encoding="utf-8"))
    assert "findings" not in record
    assert (record["tags"], record["own_field"]) == (["rare"], 5)
    (question,) = record["questions"]
    assert (question["kind"], question["gold"], len(question["criteria"])) == ("rubric", REPORT, 6)
    assert wardround("cases", "validate", "reports", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("findings", [None, "Normal."])
def test_a_case_without_findings_is_one_clear_line(tmp_path: Path, findings: str | None) -> None:
    write_cases(tmp_path / "cases", [case(1, **({"findings": findings} if findings else {}))])
    ended = wardround("cases", "rubric", "cases", "--out", "reports", cwd=tmp_path)
    assert ended.returncode == 1
    assert "case 'case-1': has no findings" in ended.stderr
    assert not (tmp_path / "reports").exists()


def test_cases_without_findings_are_left_out_with_their_images(tmp_path: Path) -> None:
    cases = [case(1, findings=REPORT), case(2, images=[{"path": "two.png", "modality": "CT"}])]
    write_cases(tmp_path / "cases", cases)
    Image.new("L", (24, 24)).save(tmp_path / "cases" / "two.png")
    ended = wardround("cases", "rubric", "cases", "--out", "reports", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "1 case with a rubric in reports; 1 without findings were left out"
    assert [file.name for file in (tmp_path / "reports").iterdir()] == ["cases.jsonl"]
