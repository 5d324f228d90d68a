"""A Hugging Face dataset folder: back to equal bytes, read by other readers of Parquet, YAML and Croissant."""

from __future__ import annotations

import hashlib
import io
import json

import PIL.Image
import pytest
import yaml
from exam_study import wardround
from pyarrow import parquet

from wardround.building.sources.starter.build import build_starter


@pytest.fixture(scope="module")
def dataset(exam_cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hf") / "dataset"
    result = wardround("export", str(exam_cases), "--to", "hf", "--out", str(folder), cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


def test_a_case_set_comes_back_with_equal_bytes(exam_cases, dataset, tmp_path):
    result = wardround("cases", "convert", str(dataset), "--from", "hf-export", "--out", "back", cwd=tmp_path)
    assert result.returncode == 0, result.stderr

    files = sorted(file.relative_to(exam_cases) for file in exam_cases.rglob("*") if file.is_file())
    assert len(files) == 13
    assert sorted(file.relative_to(tmp_path / "back") for file in (tmp_path / "back").rglob("*.*")) == files
    for file in files:
        assert (tmp_path / "back" / file).read_bytes() == (exam_cases / file).read_bytes()


def test_the_parquet_file_declares_its_images(dataset, exam_cases):
    table = parquet.read_table(dataset / "data/test-00000-of-00001.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == table.column_names
    assert features["images"]["feature"] == {"_type": "Image"}
    assert table["images"][3].as_py()[1]["bytes"] == (exam_cases / "images/3-1.png").read_bytes()
    assert table["questions"][3].as_py()[1]["gold"] == "gout"


def test_the_card_names_splits_and_leaves_the_licence_to_the_author(dataset):
    _, header, text = (dataset / "README.md").read_text().split("---\n", 2)
    settings = yaml.safe_load(header)
    (entry,) = settings["configs"][0]["data_files"]
    assert (entry["split"], (dataset / entry["path"]).is_file()) == ("test", True)
    assert settings["license"] == "other"
    assert "| test | 8 |" in text


def test_croissant_has_what_version_1_requires(dataset):
    metadata = json.loads((dataset / "croissant.json").read_text())
    assert metadata["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {"@context", "@type", "name", "description", "distribution", "recordSet"} <= metadata.keys()
    (file,) = metadata["distribution"]
    assert file["sha256"] == hashlib.sha256((dataset / file["contentUrl"]).read_bytes()).hexdigest()


def test_mlcroissant_reads_the_records(dataset):
    mlcroissant = pytest.importorskip("mlcroissant", reason="the package mlcroissant is not installed")
    read = mlcroissant.Dataset(jsonld=str(dataset / "croissant.json"))
    assert not read.metadata.issues.errors
    assert [record["test/id"].decode() for record in read.records("test")] == [f"case-{n}" for n in range(8)]


def test_dicom_images_are_shown_as_pictures_and_come_back_as_they_are(tmp_path):
    build_starter(tmp_path / "starter")

    wardround("export", "starter", "--to", "hf", "--out", "dataset", cwd=tmp_path)
    wardround("cases", "convert", "dataset", "--from", "hf-export", "--out", "back", cwd=tmp_path)

    table = parquet.read_table(tmp_path / "dataset/data/test-00000-of-00001.parquet", columns=["images", "originals"])
    rows = table.to_pylist()
    assert sum(len(row["originals"]) for row in rows) > 0
    for row in rows:
        for image in row["images"]:
            PIL.Image.open(io.BytesIO(image["bytes"])).load()
    files = [file.relative_to(tmp_path / "back") for file in (tmp_path / "back").rglob("*.*")]
    assert any(file.suffix == ".dcm" for file in files)
    for file in files:
        assert (tmp_path / "back" / file).read_bytes() == (tmp_path / "starter" / file).read_bytes()
