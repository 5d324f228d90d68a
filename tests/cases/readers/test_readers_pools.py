"""Plain VQA sets are read in their own layouts: OmniMedVQA, GMAI-MMBench, MedXpertQA, and the project site's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from published_tables import in_base64, picture, row, write_tsv

from wardround.cases.conversion import convert
from wardround.cases.readers import READERS
from wardround.cases.validation import validate
from wardround.core.errors import BadInput


def put(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture(number))


def write_json(file: Path, document: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))
    return file


OMNI = {
    "dataset": "ACRIMA",
    "question_id": "ACRIMA_0000",
    "question_type": "Disease Diagnosis",
    "question": "What is the diagnosis?",
    "gt_answer": "Glaucoma.",
    "image_path": "Images/ACRIMA/Im002.png",
    "option_A": "Normal",
    "option_B": "glaucoma",
    "modality_type": "Fundus Photography",
}


def omni(folder: Path, *records: dict[str, Any], name: str = "ACRIMA") -> Path:
    put(folder, "Images/ACRIMA/Im002.png", "Images/ACRIMA/Im003.png")
    return write_json(folder / "QA_information" / "Open-access" / f"{name}.json", list(records))


def test_omnimedvqa(tmp_path):
    second = {**OMNI, "question_id": "ACRIMA_0001", "question": "Which organ?", "option_C": "", "option_D": "Heart"}
    other = {**OMNI, "question_id": "x", "image_path": "Images/ACRIMA/Im003.png", "modality": "MR (Magnetic Resonance)"}
    del other["modality_type"]
    omni(tmp_path, OMNI, {**second, "option_C": "Eye", "gt_answer": "Eye"}, other)
    for source in (tmp_path, tmp_path / "QA_information" / "Open-access" / "ACRIMA.json"):
        read = READERS["omnimedvqa"](source)
        first, last = read
        assert read.problems == []
        assert (first.id, first.origin.name, len(first.questions)) == ("ACRIMA_0000", "ACRIMA", 2)
        assert [image.path for image in first.images] == ["Images/ACRIMA/Im002.png"]
        question = first.questions[0]
        assert (question.options, question.gold) == (["Normal", "glaucoma"], 1)
        assert question.model_extra == {"label": "Disease Diagnosis"}
        assert first.images[0].modality == "Fundus Photography"
        assert last.images[0].modality == "MR"


OMNI_BAD = {
    "answer of no option": ({"gt_answer": "Cataract"}, "[1].gt_answer", "'Cataract' is no option"),
    "two equal options": ({"option_A": "Glaucoma"}, "[1].gt_answer", "'Glaucoma.' is more than one option"),
    "no question": ({"question": None}, "[1].question", "is required"),
    "a list for a text": ({"question": ["x"]}, "[1].question", "should be text, not ['x']"),
    "no image": ({"image_path": "Images/gone.png"}, "[1].image_path", "'Images/gone.png': there is no such file"),
    "twice": ({"question_id": "ACRIMA_0000"}, "[1].question_id", "'ACRIMA_0000' occurs twice"),
}


@pytest.mark.parametrize("what", OMNI_BAD)
def test_a_bad_record_is_named_by_its_place(tmp_path, what):
    change, field, message = OMNI_BAD[what]
    file = omni(tmp_path, OMNI, {**OMNI, "question_id": "y", **change})
    read = READERS["omnimedvqa"](tmp_path)
    assert [question.id for case in read for question in case.questions] == ["ACRIMA_0000"]
    (problem,) = read.problems
    assert (problem.file, problem.line, problem.field, problem.message) == (file, None, field, message)


def test_broken_json_is_one_line(tmp_path):
    omni(tmp_path, OMNI).write_text("[{")
    with pytest.raises(BadInput, match=r"ACRIMA\.json: is not JSON"):
        READERS["omnimedvqa"](tmp_path)
    with pytest.raises(BadInput, match="no such file or folder"):
        READERS["omnimedvqa"](tmp_path / "gone")


def test_gmai_mmbench(tmp_path):
    columns = {"clinical VQA task": "Counting", "department": "Hematology", "perceptual granularity": "Image Level"}
    cells = row(7, in_base64(1)) | columns
    for name in ("degradation_type", "degradation_severity", "source"):
        del cells[name]
    file = write_tsv(tmp_path / "GMAI-MMBench_VAL.tsv", [cells])
    (case,) = READERS["gmai-mmbench"](file)
    assert (case.id, case.split, case.origin.name) == ("val-7", "val", "gmai-mmbench")
    assert case.questions[0].model_extra == {
        "label": "Counting",
        "department": "Hematology",
        "perceptual_granularity": "Image Level",
    }


def test_its_test_parts_have_no_answers(tmp_path):
    cells = row(7, in_base64(1))
    del cells["answer"]
    with pytest.raises(BadInput, match="there is no column 'answer'"):
        READERS["gmai-mmbench"](write_tsv(tmp_path / "GMAI_mm_bench_TEST_part_1.tsv", [cells]))


XPERT = {
    "id": "MM-1",
    "question": "A man coughs. What next?\nAnswer Choices: (A) Wait (B) CT (C) MRI",
    "options": {"A": "Wait", "C": "MRI", "B": "CT"},
    "label": "C",
    "images": ["MM-1-a.jpeg", "MM-1-b.jpeg"],
    "medical_task": "Treatment",
    "body_system": "Respiratory",
    "question_type": "Reasoning",
}


def test_medxpertqa(tmp_path):
    put(tmp_path, "images/MM-1-a.jpeg", "images/MM-1-b.jpeg")
    without = {**XPERT, "images": []}
    lines = [XPERT, {**without, "id": "MM-2", "label": ["A"]}, {**XPERT, "id": "MM-3", "label": "J"}]
    lines.append({**without, "id": "MM-4"})
    (tmp_path / "MM").mkdir()
    (tmp_path / "MM" / "test.jsonl").write_text("\n".join([*map(json.dumps, lines), "{", "3"]))
    read = READERS["medxpertqa"](tmp_path)
    case, *others = read
    assert (case.id, case.split) == ("test-MM-1", "test")
    assert [image.path for image in case.images] == ["images/MM-1-a.jpeg", "images/MM-1-b.jpeg"]
    question = case.questions[0]
    assert (question.prompt, question.options, question.gold) == ("A man coughs. What next?", ["Wait", "CT", "MRI"], 2)
    assert question.images is None
    assert question.model_extra["label"] == "Treatment / Reasoning"
    assert question.model_extra["body_system"] == "Respiratory"
    assert [(other.id, other.images) for other in others] == [("test-MM-2", []), ("test-MM-4", [])]
    assert [(problem.line, problem.field) for problem in read.problems] == [(3, "label"), (5, None), (6, None)]


SITE = {
    "degradation_type": "random_motion_artifact",
    "display_name": "Object movement",
    "category": "Motion",
    "modality": "MRI",
    "dataset": "OmniMedVQA",
    "question": "What is shown?",
    "options": ["A. a liver", "B. a kidney"],
    "answer": "B",
    "answer_text": "a kidney",
    "capability": "Abdominal Structures",
    "images": {level: f"/site/images/m/{level}.png" for level in ("L0", "L1", "L2")},
}


def test_the_json_of_the_project_site(tmp_path):
    put(tmp_path, *(f"public/images/m/{level}.png" for level in ("L0", "L1", "L2")))
    file = write_json(tmp_path / "public" / "data" / "examples.json", {"examples": [SITE]})
    (case,) = READERS["medq-deg-site"](file)
    assert [list(image.degradations) for image in case.images] == [[], ["object_movement@L1"], ["object_movement@L2"]]
    clean, mild, severe = case.questions
    assert (clean.options, clean.gold, clean.images) == (["a liver", "a kidney"], 1, [0])
    assert (mild.of, mild.images, severe.of, severe.images) == (clean.id, [1], clean.id, [2])
    count, problems = convert(file, tmp_path / "set", layout="medq-deg-site")
    assert (count, problems, validate(tmp_path / "set", workers=1)) == (1, [], [])


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"answer": "C"}, "answer", "is 'C'; the options are A, B"),
        ({"answer_text": "a liver"}, "answer_text", "is 'a liver', which is not option B"),
        ({"degradation_type": "fog"}, "degradation_type", "degradation_type 'fog' is not one of the 18"),
        ({"images": {"L1": "x.png"}}, "images", "should name an image at L0"),
        ({"options": "A"}, "options", "should be a list of texts"),
    ],
)
def test_what_is_wrong_on_the_site_is_named(tmp_path, change, field, message):
    put(tmp_path, *(f"images/m/{level}.png" for level in ("L0", "L1", "L2")))
    read = READERS["medq-deg-site"](write_json(tmp_path / "examples.json", [SITE, {**SITE, **change}]))
    (problem,) = read.problems
    assert problem.field == f"[1].{field}"
    assert problem.message.startswith(message)
    assert len(read) == 1
