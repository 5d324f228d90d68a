"""VLMEvalKit's tables: a case set goes there and back, a run keeps its replies under the letters that were shown."""

from __future__ import annotations

import base64
import csv
from pathlib import Path
from typing import Any

import polars as pl
from exam_study import wardround

from wardround.building.sources.starter.build import build_starter
from wardround.cases.set import CaseSet
from wardround.exporting.destination import new_file_name

csv.field_size_limit(10_000_000)


def tsv_rows(file: Path) -> list[dict[str, Any]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def test_a_case_set_goes_to_vlmevalkit_and_back(exam_cases, tmp_path):
    assert wardround("export", str(exam_cases), "--to", "vlmevalkit", "--out", "exam.tsv", cwd=tmp_path).returncode == 0
    result = wardround("cases", "import", "exam.tsv", "--map", "exam.map.toml", "--out", "back", cwd=tmp_path)
    assert result.returncode == 0, result.stderr

    before, after = CaseSet.open(exam_cases), CaseSet.open(tmp_path / "back")
    assert before.ids == after.ids
    for old, new in zip(before, after, strict=True):
        assert [
            (question.id, question.prompt, question.options, question.gold, question.accept, question.skill)
            for question in old.questions
        ] == [
            (question.id, question.prompt, question.options, question.gold, question.accept, question.skill)
            for question in new.questions
        ]
        assert (old.history, old.split, old.cluster, old.patient) == (new.history, new.split, new.cluster, new.patient)
        assert (old.tags, old.specialty) == (new.tags, new.specialty)
        assert [before.image_path(image).read_bytes() for image in old.images] == [
            after.image_path(image).read_bytes() for image in new.images
        ]


def test_the_table_has_the_columns_that_vlmevalkit_reads(exam_cases, tmp_path):
    assert wardround("export", str(exam_cases), "--to", "vlmevalkit", "--out", "exam.tsv", cwd=tmp_path).returncode == 0

    rows = tsv_rows(tmp_path / "exam.tsv")
    assert [row["index"] for row in rows] == [str(number) for number in range(9)]
    assert base64.b64decode(rows[0]["image"]) == (exam_cases / "images/0-0.png").read_bytes()
    assert rows[1]["image"].startswith("['")
    assert rows[1]["answer"] == "B"
    assert rows[1]["C"] == "disease 1c"
    assert rows[0]["C"] == ""
    assert rows[0]["hint"] == "History of ä\npatient 0."


def test_a_dicom_file_goes_as_the_picture_that_a_candidate_is_shown(tmp_path):
    build_starter(tmp_path / "starter")

    result = wardround("export", "starter", "--to", "vlmevalkit", "--out", "starter.tsv", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    signatures = {base64.b64decode(row["image"])[:4] for row in tsv_rows(tmp_path / "starter.tsv")}
    assert signatures == {b"\x89PNG", b"\xff\xd8\xff\xe0"}


def test_predictions_stand_beside_the_options_as_they_were_shown(exam_run, tmp_path):
    assert wardround("export", str(exam_run), "--to", "vlmevalkit", "--out", "tables", cwd=tmp_path).returncode == 0

    files = {file.name for file in (tmp_path / "tables").iterdir()}
    assert {"strong_exam_options-rotated.tsv", "weak_exam_images-blank_options-rotated.tsv"} < files
    assert len(files) == 4
    rows = tsv_rows(tmp_path / "tables" / "strong_exam_options-rotated.tsv")
    marks = pl.read_parquet(exam_run / "marks.parquet").filter(
        pl.col("candidate") == "strong", ~pl.col("condition").str.contains("blank")
    )
    assert len(rows) == len(marks) == 16
    assert sum(int(row["hit"]) for row in rows) == (marks["outcome"] == "right").sum()
    golds = {f"case-{number}": f"disease {number}{'abcde'[number % (2 + number % 4)]}" for number in range(8)}
    assert all(row[row["answer"]] == golds[row["case"]] for row in rows)
    assert any(row["answer"] != rows[place - 1]["answer"] for place, row in enumerate(rows) if place % 2)  # rotated


def test_names_of_candidates_give_files_that_every_system_allows_and_no_file_twice():
    assert new_file_name("<b>a/b\t|c_exam", ".tsv", []) == "-b-a-b--c_exam.tsv"
    assert new_file_name("qwen 3: Ü_exam", ".tsv", ["other.tsv"]) == "qwen 3- Ü_exam.tsv"
    names: list[str] = []
    for stem in ("a/b", "a-b", "A:B", "c"):
        names.append(new_file_name(stem, ".tsv", names))
    assert names == ["a-b.tsv", "a-b-2.tsv", "A-B-3.tsv", "c.tsv"]


def test_the_flat_table_joins_marks_with_prompts_and_replies(exam_run, tmp_path):
    assert (
        wardround("export", str(exam_run), "--to", "parquet", "--out", "answers.parquet", cwd=tmp_path).returncode == 0
    )

    table = pl.read_parquet(tmp_path / "answers.parquet")
    marks = pl.read_parquet(exam_run / "marks.parquet")
    assert len(table) == len(marks) == 64
    assert table["outcome"].value_counts(sort=True).equals(marks["outcome"].value_counts(sort=True))
    row = table.filter(case="case-3", candidate="strong", trial=1, axis_images="blank").row(0, named=True)
    assert "History of ä\npatient 3." in row["prompt"]
    assert row["prompt"].count("[image]") == 2
    assert row["options_shown"][row["gold_shown"]] == row["gold_text"]
    assert row["reply"]


def test_an_export_overwrites_nothing_and_says_what_is_wrong_in_one_line(exam_run, exam_cases, tmp_path):
    (tmp_path / "there.tsv").write_text("mine")
    for arguments, problem in (
        ((str(exam_cases), "--to", "vlmevalkit", "--out", "there.tsv"), "already exists"),
        ((str(exam_run), "--to", "vlmevalkit", "--out", "."), "already exists and is not empty"),
        ((str(exam_cases), "--to", "parquet", "--out", "x"), "is a case set; --to parquet takes a run"),
        ((str(exam_cases), "--to", "vlmevalkt", "--out", "x"), "did you mean vlmevalkit?"),
        (("nowhere", "--to", "parquet", "--out", "x"), "there is no such run or case set"),
    ):
        result = wardround("export", *arguments, cwd=tmp_path)
        assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
        assert problem in result.stderr
    assert (tmp_path / "there.tsv").read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["there.tsv"]
