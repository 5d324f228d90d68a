"""Every Eval Ever: the records have the fields that version 0.3.0 requires and hold the run's scores."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround
from jsonschema import Draft7Validator

# the fields that the schemas of 0.3.0 require, as of 2026-11-18; a list means: of each of its items
RECORD = {
    "": "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    "source_metadata": "source_type source_organization_name evaluator_relationship",
    "eval_library": "name version",
    "evaluation_results": "evaluation_name source_data metric_config score_details",
    "detailed_evaluation_results": "format file_path",
}
INSTANCE = {
    "": "schema_version evaluation_id model_id evaluation_name sample_id interaction_type input answer_attribution "
    "evaluation",
    "input": "raw reference",
    "answer_attribution": "turn_idx source extracted_value extraction_method is_terminal",
    "evaluation": "score is_correct",
}


def lacking(record: dict[str, Any], required: dict[str, str]) -> list[str]:
    """The required fields that a record does not have."""
    missing = []
    for part, names in required.items():
        value = record[part] if part else record
        for item in value if isinstance(value, list) else [value]:
            missing += [f"{part}.{name}" for name in names.split() if name not in item]
    return missing


def package_schema(name: str) -> Draft7Validator:
    """A schema inside the project's own package."""
    package = pytest.importorskip("every_eval_ever")
    (file,) = Path(package.__file__).parent.rglob(name)
    return Draft7Validator(json.loads(file.read_text()))


@pytest.fixture(scope="module")
def exported(exam_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("eee") / "out"
    result = wardround("export", str(exam_run), "--to", "every-eval-ever", "--out", str(folder), cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


def test_records_fit_the_schemas_of_the_package(exported):
    records, instances = package_schema("eval.schema.json"), package_schema("instance_level_eval.schema.json")
    for file in exported.glob("data/exam/simulated/*/*.json"):
        assert list(records.iter_errors(json.loads(file.read_text()))) == []
    for file in exported.glob("data/exam/simulated/*/*.jsonl"):
        assert not [e for line in file.read_text().splitlines() for e in instances.iter_errors(json.loads(line))]


def test_records_have_the_required_fields_and_name_their_answers(exported):
    files = sorted(exported.glob("data/exam/simulated/*/*.json"))
    assert [file.parent.name for file in files] == ["strong", "weak"]
    for file in files:
        record = json.loads(file.read_text())
        assert lacking(record, RECORD) == []
        details = record["detailed_evaluation_results"]
        lines = (exported / details["file_path"]).read_text()
        assert details["checksum"] == hashlib.sha256(lines.encode()).hexdigest()
        instances = [json.loads(line) for line in lines.splitlines()]
        assert len(instances) == details["total_rows"] == 32
        assert [name for instance in instances for name in lacking(instance, INSTANCE)] == []


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
