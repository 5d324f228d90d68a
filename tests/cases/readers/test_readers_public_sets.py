"""MedMCQA, MMLU, MMMU, PMC-VQA, VQA-RAD, SLAKE and PathVQA in the layouts in which they are published.

The files are imitations: their columns are those of the data set pages, their questions are invented.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from wardround.cases.conversion import convert
from wardround.cases.importing.table_map import public_map, public_names
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.core.case import Case
from wardround.core.errors import BadInput, Problem


def png(shade: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (24, 24), shade).save(file, "PNG")
    return file.getvalue()


def picture(path: Path, shade: int = 9) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (24, 24), shade).save(path)


def parquet(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(list(rows), infer_schema_length=None).write_parquet(path)


def table(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as lines:
        csv.writer(lines).writerows(rows)


def read(tmp_path: Path, layout: str, source: Path | None = None) -> tuple[list[Case], list[Problem]]:
    """The cases of `in`, converted, and what was left out."""
    _, problems = convert(source or tmp_path / "in", tmp_path / "set", layout=layout)
    assert not validate(tmp_path / "set")
    return list(CaseSet.open(tmp_path / "set")), problems


MCQ = {"id": "a1", "question": "Which vitamin?", "opa": "A", "opb": "B12", "opc": "C", "opd": "D", "cop": 0}
MCQ |= {"choice_type": "single", "exp": "Because of the anaemia.", "subject_name": "Medicine", "topic_name": None}


def test_medmcqa_as_parquet_counts_options_from_0(tmp_path):
    unanswered = MCQ | {"id": "a3", "cop": -1}
    rows = [MCQ | {"cop": 1}, MCQ | {"id": "a2", "cop": 0}, unanswered]
    parquet(tmp_path / "in" / "data" / "validation-00000-of-00001.parquet", *rows)
    (first, second), problems = read(tmp_path, "medmcqa")
    assert (first.id, first.split, first.specialty) == ("medmcqa-val-a1", "val", "Medicine")
    assert [first.questions[0].gold_text, second.questions[0].gold_text] == ["B12", "A"]
    assert first.questions[0].rationale == "Because of the anaemia."
    assert [problem.message for problem in problems] == ["has no published answer"]


def test_medmcqa_in_its_own_files_counts_options_from_1(tmp_path):
    """dev.json has one object per line, and cop from 1 to 4."""
    lines = [json.dumps(MCQ | {"id": f"b{cop}", "cop": cop}) for cop in (2, 4)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "dev.json").write_text("\n".join(lines))
    cases, _ = read(tmp_path, "medmcqa")
    assert [case.questions[0].gold_text for case in cases] == ["B12", "D"]


def test_mmlu_as_csv_without_a_header_and_only_its_medical_subjects(tmp_path):
    table(tmp_path / "in" / "test" / "anatomy_test.csv", [["Which nerve?", "vagus", "median", "ulnar", "optic", "C"]])
    table(tmp_path / "in" / "test" / "astronomy_test.csv", [["Which star?", "a", "b", "c", "d", "A"]])
    (case,), _ = read(tmp_path, "mmlu-medical")
    assert (case.specialty, case.split, case.questions[0].gold_text) == ("anatomy", "test", "ulnar")


def test_mmlu_as_parquet(tmp_path):
    row = {"question": "Which nerve?", "subject": "anatomy", "choices": ["vagus", "median", "ulnar", "optic"]}
    other = row | {"subject": "astronomy", "answer": 0}
    parquet(tmp_path / "in" / "all" / "test-00000-of-00001.parquet", row | {"answer": 3}, other)
    (case,), _ = read(tmp_path, "mmlu-medical")
    assert (case.id, case.questions[0].gold_text) == ("mmlu-medical-test-anatomy-0", "optic")


def test_mmmu_has_its_images_in_the_rows(tmp_path):
    row = {"id": "validation_Clinical_Medicine_1", "question": "What does <image 1> show?", "explanation": ""}
    row |= {"options": "['Gout', 'Lupus', 'Mumps']", "answer": "B", "question_type": "multiple-choice"}
    row |= {"img_type": "['CT']", "subfield": "Radiology", "topic_difficulty": "Easy"}
    images = {f"image_{n}": None for n in range(3, 8)}
    images |= {f"image_{n}": {"bytes": png(n), "path": f"{n}.png"} for n in (1, 2)}
    other = row | {"id": "validation_Music_1"} | images
    opened = row | {"id": "validation_Pharmacy_4", "options": "[]", "answer": "12.5"} | images
    opened["image_1"] = {"bytes": png(99), "path": "x.png"}
    folder = tmp_path / "in" / "Clinical_Medicine"
    parquet(folder / "validation-00000-of-00001.parquet", row | images, other, opened)
    (case, drug), _ = read(tmp_path, "mmmu-health")
    assert (case.specialty, case.split, len(case.images)) == ("Clinical_Medicine", "val", 2)
    assert case.questions[0].gold_text == "Lupus"
    assert (tmp_path / "set" / case.images[0].path).read_bytes() == png(1)
    assert (drug.questions[0].kind, drug.questions[0].gold) == ("open", "12.5")


def test_pmc_vqa_drops_letters_and_captions_and_joins_questions_of_one_image(tmp_path):
    head = ["Figure_path", "Question", "Answer", "Choice A", "Choice B", "Choice C", "Choice D", "Answer_label"]
    choices = [" A:Lateral view ", " B:Oblique view ", " C:Axial view ", " D:Plan "]
    rows = [["PMC1_F1.jpg", "Which view?", "Axial view", *choices, "C"]]
    rows += [["PMC1_F1.jpg", "Which one?", "Plan", *choices, "D"], ["absent.jpg", "What?", "Plan", *choices, "D"]]
    table(tmp_path / "in" / "test_clean.csv", [head, *rows])
    picture(tmp_path / "in" / "figures" / "PMC1_F1.jpg")
    (case,), problems = read(tmp_path, "pmc-vqa")
    first, second = case.questions
    assert first.options == ["Lateral view", "Oblique view", "Axial view", "Plan"]
    assert (first.gold_text, second.gold_text) == ("Axial view", "Plan")
    assert "Answer" not in first.model_extra
    assert "no such file" in problems[0].message


def test_pmc_vqas_second_version_has_the_letter_as_answer(tmp_path):
    head = ["index", "Figure_path", "Caption", "Question", "Choice A", "Choice B", "Choice C", "Choice D", "Answer"]
    row = ["0", "F1.jpg", "An axial view.", "Which view?", "A:lateral", "B:axial", "C:oblique", "D:none", "B"]
    table(tmp_path / "in" / "test_2.csv", [head, row])
    picture(tmp_path / "in" / "images_2" / "F1.jpg")
    (case,), _ = read(tmp_path, "pmc-vqa")
    assert case.questions[0].gold_text == "axial"
    assert "An axial view." not in case.model_dump_json()


RAD = {"qid": 1, "image_name": "synpic1.jpg", "image_organ": "HEAD", "answer": "Yes", "answer_type": "CLOSED"}
RAD |= {"question_type": "PRES", "question": "Is there an infarct?", "phrase_type": "freeform"}


def test_vqa_rad_has_choices_for_yes_and_no_and_open_questions_for_the_rest(tmp_path):
    more = RAD | {"qid": 2, "question": "Where?", "answer": "left lobe", "answer_type": "OPEN"}
    test = RAD | {"qid": 3, "phrase_type": "test_freeform", "answer": "no"}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "VQA_RAD Dataset Public.json").write_text(json.dumps([RAD, more, test]))
    picture(tmp_path / "in" / "VQA_RAD Image Folder" / "synpic1.jpg")
    (train, held_back), _ = read(tmp_path, "vqa-rad")
    closed, opened = train.questions
    assert (closed.kind, closed.options, closed.gold) == ("choice", ["yes", "no"], 0)
    assert (opened.kind, opened.gold, opened.model_extra["image_organ"]) == ("open", "left lobe", "HEAD")
    assert (train.split, held_back.split, held_back.questions[0].gold_text) == ("train", "test", "no")
    assert train.cluster == held_back.cluster, "the same image is one cluster"


def test_slake_is_read_in_english_with_its_modality(tmp_path):
    row = {"img_id": 1, "img_name": "xmlab1/source.jpg", "question": "Is this a CT?", "answer": "Yes", "q_lang": "en"}
    row |= {"location": "Lung", "modality": "CT", "answer_type": "CLOSED", "qid": 11, "triple": ["vhead", "_", "_"]}
    chinese = row | {"qid": 12, "q_lang": "zh"}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "test.json").write_text(json.dumps([row, chinese]))
    picture(tmp_path / "in" / "imgs" / "xmlab1" / "source.jpg")
    (tmp_path / "in" / "imgs" / "xmlab1" / "question.json").write_text("[{}]")
    (case,), problems = read(tmp_path, "slake")
    assert (case.id, case.images[0].modality, len(case.questions)) == ("slake-test-11", "CT", 1)
    assert problems == []


def test_path_vqa_has_its_images_in_the_rows(tmp_path):
    rows = [{"image": {"bytes": png(1), "path": None}, "question": "Is it benign?", "answer": "no"}]
    rows += [{"image": {"bytes": png(1), "path": None}, "question": "What is it?", "answer": "adenoma"}]
    rows += [{"image": {"bytes": png(2), "path": None}, "question": "What is it?", "answer": "cyst"}]
    parquet(tmp_path / "in" / "data" / "test-00000-of-00003.parquet", *rows)
    (first, second), _ = read(tmp_path, "path-vqa")
    assert [question.kind for question in first.questions] == ["choice", "open"]
    assert second.questions[0].gold == "cyst"
    assert first.split == "test"


def test_a_set_without_usable_rows_says_why(tmp_path):
    table(tmp_path / "in" / "astronomy_test.csv", [["Which star?", "a", "b", "c", "d", "A"]])
    with pytest.raises(BadInput, match="no row of MMLU, its six medical subjects; 1 rows are of other parts"):
        convert(tmp_path / "in", tmp_path / "set", layout="mmlu-medical")


def test_every_layout_says_when_it_was_looked_up():
    assert all(public_map(name).looked_up.year >= 2026 for name in public_names())
    assert len(public_names()) == 9
