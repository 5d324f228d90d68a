"""A judge's verdicts on criteria against people's: figures of scikit-learn, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from exam_study import wardround
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from wardround.measuring.validation.rubric_agreement import rubric_agreement

JUDGE = [case % 3 > 0 for case in range(40)]
PEOPLE = [case % 3 > 0 if case % 5 else case % 2 == 0 for case in range(40)]


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    rows = [
        {"candidate": "one", "case": f"c{case}", "question": "q", "trial": 0, "cluster": f"c{case}", "judge": "j"}
        | {"criteria": [{"id": "a", "points": 1.0, "axis": None, "met": met}, {"id": "b", "points": 1.0, "met": None}]}
        for case, met in enumerate(JUDGE)
    ]
    pl.DataFrame(rows, schema_overrides={"trial": pl.Int32}).write_parquet(tmp_path / "marks.parquet")
    return tmp_path


def write_labels(folder: Path, *lines: str) -> Path:
    file = folder / "labels.csv"
    file.write_text("\n".join(["candidate,case,question,criterion,met", *lines, ""]), encoding="utf-8")
    return file


def test_figures_agree_with_scikit_learn(run_folder: Path) -> None:
    lines = [f"one,c{case},q,a,{'met' if met else 'not met'}" for case, met in enumerate(PEOPLE)]
    result = rubric_agreement(run_folder, write_labels(run_folder, *lines, "one,c0,q,b,met"))
    overall = result["overall"]
    assert (result["labels"], result["unjudged"], overall["n"]) == (41, 1, 40)
    assert overall["agreement"]["value"] == pytest.approx(accuracy_score(PEOPLE, JUDGE))
    assert overall["kappa"]["value"] == pytest.approx(cohen_kappa_score(PEOPLE, JUDGE))
    assert overall["f1_macro"]["value"] == pytest.approx(f1_score(PEOPLE, JUDGE, average="macro"))
    assert overall["kappa"]["low"] < overall["kappa"]["value"] < overall["kappa"]["high"]
    assert result["criteria"][0]["n"] == 1


def test_the_command_prints_figures_by_criterion(run_folder: Path) -> None:
    write_labels(run_folder, "one,c0,q,a,no", "one,c1,q,a,no")
    ended = wardround("judge", "criteria", ".", "--labels", "labels.csv", "--json", cwd=run_folder)
    assert ended.returncode == 0, ended.stderr
    by_case = {entry["case"]: entry["agreement"]["value"] for entry in json.loads(ended.stdout)["criteria"]}
    assert by_case == {"c0": 1.0, "c1": 0.0}


@pytest.mark.parametrize(
    ("line", "problem"),
    [("one,c0,q,a,perhaps", "'perhaps' is not a verdict"), ("one,c0,q,z,met", "no rubric answer of the run has")],
)
def test_a_bad_label_is_one_line_with_its_number(run_folder: Path, line: str, problem: str) -> None:
    write_labels(run_folder, line)
    ended = wardround("judge", "criteria", ".", "--labels", "labels.csv", cwd=run_folder)
    assert ended.returncode == 1
    assert problem in ended.stderr
    assert "labels.csv" in ended.stderr
