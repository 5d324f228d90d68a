"""Every Eval Ever: the records fit its schemas (0.3.0, MIT, beside this file) and hold the run's scores."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from exam_study import wardround
from jsonschema import Draft7Validator

SCHEMAS = Path(__file__).with_name("every_eval_ever")


def validator(name: str) -> Draft7Validator:
    return Draft7Validator(json.loads((SCHEMAS / name).read_text()))


@pytest.fixture(scope="module")
def exported(exam_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("eee") / "out"
    result = wardround("export", str(exam_run), "--to", "every-eval-ever", "--out", str(folder), cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


def test_records_fit_the_schemas(exported):
    files = sorted(exported.glob("data/exam/simulated/*/*.json"))
    assert [file.parent.name for file in files] == ["strong", "weak"]
    for file in files:
        record = json.loads(file.read_text())
        assert list(validator("eval.schema.json").iter_errors(record)) == []
        details = record["detailed_evaluation_results"]
        lines = (exported / details["file_path"]).read_text()
        assert details["checksum"] == hashlib.sha256(lines.encode()).hexdigest()
        instances = [json.loads(line) for line in lines.splitlines()]
        assert len(instances) == details["total_rows"] == 32
        schema = validator("instance_level_eval.schema.json")
        assert [error for instance in instances for error in schema.iter_errors(instance)] == []


def test_scores_and_intervals_are_those_of_the_run(exam_run, exported):
    with (exam_run / "measures.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["measure"] == "accuracy" and row["slice"] == "{}"]
    assert len(rows) == 2
    for row in rows:
        (file,) = exported.glob(f"data/exam/simulated/{row['candidate']}/*.json")
        results = json.loads(file.read_text())["evaluation_results"]
        (score,) = [result["score_details"] for result in results if result["evaluation_name"] == "exam accuracy"]
        interval = score["uncertainty"]["confidence_interval"]
        figures = (score["score"], interval["lower"], interval["upper"])
        assert figures == tuple(float(row[name]) for name in ("value", "low", "high"))


def test_no_folder_of_this_machine_is_named(exam_run, exported):
    texts = [file.read_text() for file in exported.rglob("*.json*")]
    assert len(texts) == 4
    assert not any(str(exam_run.parent.parent) in text for text in texts)
