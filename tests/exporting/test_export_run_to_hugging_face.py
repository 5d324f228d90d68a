"""A run as a Hugging Face dataset: other readers find its answers, and its measures with their intervals."""

from __future__ import annotations

import csv
import hashlib
import json

import polars as pl
import pytest
import yaml
from exam_study import wardround
from pyarrow import parquet


@pytest.fixture(scope="module")
def dataset(exam_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hf") / "run"
    result = wardround("export", exam_run, "--to", "hf", "--out", folder, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


def test_the_tables_are_those_of_the_run(exam_run, dataset):
    with (exam_run / "measures.csv").open(newline="") as lines:
        expected = [(row["candidate"], row["value"], row["low"], row["n"]) for row in csv.DictReader(lines)]
    measures = parquet.read_table(dataset / "data/measures.parquet").to_pylist()
    assert len(measures) == len(expected) > 100
    for row, (candidate, value, low, n) in zip(measures, expected, strict=True):
        figures = tuple(float(text) if text else None for text in (value, low, n))
        assert (row["candidate"], row["value"], row["low"], row["n"]) == (candidate, *figures)
    answers = pl.read_parquet(dataset / "data/answers.parquet")
    marks = pl.read_parquet(exam_run / "marks.parquet")
    key = ("candidate", "case", "condition", "trial")
    assert answers.sort(key)["outcome"].to_list() == marks.sort(key)["outcome"].to_list()


def test_the_card_names_the_tables_and_the_scores(exam_run, dataset):
    _, header, text = (dataset / "README.md").read_text().split("---\n", 2)
    configs = {entry["config_name"]: entry["data_files"][0]["path"] for entry in yaml.safe_load(header)["configs"]}
    assert list(configs) == ["answers", "measures", "comparisons"]
    assert all((dataset / path).is_file() for path in configs.values())
    assert "| weak | accuracy | 0.500 | 0.209 to 0.791 | 16 |" in text  # Wilson's interval of 4 of 8 clusters
    manifest = (dataset / "manifest.json").read_text()
    assert json.loads(manifest)["status"] == "complete"
    assert str(exam_run.parent.parent) not in manifest + text


def test_croissant_has_the_hash_of_every_table(dataset):
    metadata = json.loads((dataset / "croissant.json").read_text())
    for file in metadata["distribution"]:
        assert file["sha256"] == hashlib.sha256((dataset / file["contentUrl"]).read_bytes()).hexdigest()
    types = {field["@id"]: field["dataType"] for part in metadata["recordSet"] for field in part["field"]}
    assert (types["measures/value"], types["answers/trial"]) == ("sc:Float", "sc:Integer")


def test_mlcroissant_reads_the_measures(dataset):
    mlcroissant = pytest.importorskip("mlcroissant", reason="the package mlcroissant is not installed")
    read = mlcroissant.Dataset(jsonld=str(dataset / "croissant.json"))
    assert not read.metadata.issues.errors
    first = next(iter(read.records("measures")))
    assert (first["measures/measure"], first["measures/value"]) == (b"accuracy", 1.0)


def test_datasets_loads_the_tables(dataset, tmp_path):
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    for table in ("answers", "measures"):
        loaded = datasets.load_dataset(str(dataset), table, split="test", cache_dir=str(tmp_path))
        assert len(loaded) == parquet.read_metadata(dataset / f"data/{table}.parquet").num_rows > 0
