"""CURE's case record: read from JSONL and from folders of JSON, split as the paper says, with nothing that leaks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround
from PIL import Image

from wardround.cases.conversion import convert
from wardround.cases.readers.cure import read_cure
from wardround.cases.set import CaseSet
from wardround.cases.splits import split_by_id
from wardround.core.case import Case
from wardround.core.errors import WardroundError

SECTIONS = ("Musculoskeletal", "Neuroradiology", "Abdominal imaging", "Chest", "Breast")


def record(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "case_id": f"eurorad-{18000 + number}",
        "section": SECTIONS[number % len(SECTIONS)],
        "modalities": [("CT", "MR", "US")[number // len(SECTIONS) % 3]],
        "age": 30 + number % 50,
        "sex": "FM"[number % 2],
        "history": f"Pain since {number} days.",
        "findings": f"A lesion of {number} mm.",
        "images": [],
        "diagnosis": f"Disease {number}",
        "options": [f"Disease {number + 1}", f"Disease {number}", f"Disease {number + 2}", f"Disease {number + 3}"],
        "answer": "B",
        "pmids": [str(31000000 + number), 31000000 + number, "29999999"],
        **fields,
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(fields) + "\n" for fields in records))
    return path


def image(path: Path, grey: int = 90) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (6, 6), grey).save(path)


def test_a_record_becomes_a_case_with_a_choice_and_an_open_question(tmp_path: Path) -> None:
    image(tmp_path / "images/1.png")
    leaks = {"title": "Disease 3 of the knee", "discussion": "It was Disease 3.", "keywords": ["Disease 3"]}
    fields = record(
        3, images=["images/1.png"], split="test", published="2025-03-01", accept=["D3"], **leaks, scanner="X"
    )
    (case,) = read_cure(write(tmp_path / "cure.jsonl", [fields]))
    mcq, free = case.questions
    assert (mcq.id, mcq.kind, mcq.choices[int(mcq.gold)]) == ("mcq", "choice", "Disease 3")
    assert (free.id, free.kind, free.gold, free.accept) == ("open", "open", "Disease 3", ["D3"])
    assert [reference.pmid for reference in case.references] == ["31000003", "29999999"]
    assert (case.specialty, case.split) == ("Chest", "test")
    assert case.patient is not None
    assert (case.patient.age, case.patient.sex) == (33, "M")
    assert case.origin is not None
    assert (case.origin.name, case.origin.published) == ("eurorad", "2025-03-01")
    assert [(image.path, image.modality) for image in case.images] == [("images/1.png", "CT")]
    written = json.dumps(case.as_written())
    assert not any(leak in written for leak in ("knee", "It was", "keywords"))
    assert case.as_written()["scanner"] == "X"


@pytest.mark.parametrize(
    ("fields", "gold"),
    [
        ({"answer": 2}, "Disease 2"),
        ({"answer": "d"}, "Disease 3"),
        ({"answer": "disease 0."}, "Disease 0"),
        ({"answer": None}, "Disease 0"),
        ({"options": ["A. Gout", "B. Disease 0", "C. Lupus"], "answer": "B"}, "Disease 0"),
        ({"options": {"A": "Gout", "B": "Disease 0"}, "answer": "A"}, "Gout"),
    ],
)
def test_the_answer_is_a_number_a_letter_or_a_text(tmp_path: Path, fields: dict[str, Any], gold: str) -> None:
    (case,) = read_cure(write(tmp_path / "cure.jsonl", [record(0, **fields)]))
    assert case.questions[0].choices[int(case.questions[0].gold)] == gold


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"case_id": ""}, "case_id: is required"),
        ({"diagnosis": None}, "diagnosis: is required"),
        ({"answer": "Gout"}, "answer: 'Gout' is no option"),
        ({"answer": 7}, "answer: is option 7; there are 0 to 3"),
        ({"options": "Gout"}, "options: should be a list"),
        ({"images": ["no.png"]}, "images: 'no.png': there is no such file"),
        ({"images": [{"modality": "CT"}]}, "images: an image is a path"),
        ({"pmids": ["PMC12"]}, "pmids: 'PMC12' is not a PMID"),
        ({"history": " ", "findings": ""}, "history: is required, or findings"),
        ({"age": "old"}, "age"),
    ],
)
def test_a_bad_record_is_named_and_the_others_are_read(tmp_path: Path, fields: dict[str, Any], complaint: str) -> None:
    cases = read_cure(write(tmp_path / "cure.jsonl", [record(0), record(1, **fields), record(2)]))
    assert [case.id for case in cases] == ["eurorad-18000", "eurorad-18002"]
    assert "cure.jsonl:2" in str(cases.problems[0])
    assert complaint in str(cases.problems[0])


def test_a_folder_of_json_files_keeps_images_of_the_same_name_apart(tmp_path: Path) -> None:
    for number in (0, 1):
        folder = tmp_path / "cure" / str(number)
        image(folder / "1.png", 40 * number)
        fields = record(number, images=[{"path": "1.png", "modality": "MR", "caption": "Disease!"}])
        (folder / "case.json").write_text(json.dumps(fields if number else {"cases": [fields]}))
    count, problems = convert(tmp_path / "cure", tmp_path / "out", layout="cure")
    assert (count, problems) == (2, [])
    cases = CaseSet.open(tmp_path / "out")
    greys = [Image.open(cases.image_path(case.images[0])).getpixel((0, 0)) for case in cases]
    assert greys == [0, 40]
    assert "Disease!" not in (tmp_path / "out/cases.jsonl").read_text()


def test_thirty_cases_are_set_aside_evenly_over_specialties_and_modalities(tmp_path: Path) -> None:
    source = write(tmp_path / "cure.jsonl", [record(number) for number in range(530)])
    convert(source, tmp_path / "out", layout="cure")
    cases = list(CaseSet.open(tmp_path / "out"))
    assert Counter(case.split for case in cases) == {"dev": 30, "test": 500}
    dev = [case for case in cases if case.split == "dev"]
    assert Counter(case.specialty for case in dev) == dict.fromkeys(SECTIONS, 6)
    both = Counter((case.specialty, case.as_written()["modalities"][0]) for case in dev)
    assert set(both.values()) == {2}
    assert len(both) == 15
    again = split_by_id(reversed(list(read_cure(source))), 30)
    assert {case.id: case.split for case in cases} == again  # the order of the records does not matter
    assert split_by_id(read_cure(source), 30, seed=1) != again
    assert convert(source, tmp_path / "test", layout="cure", split="test")[0] == 500
    with pytest.raises(WardroundError, match="has no case with split 'val'"):
        convert(source, tmp_path / "val", layout="cure", split="val")


def test_what_records_tell_of_their_split_stays_and_few_cases_are_set_aside_of_few(tmp_path: Path) -> None:
    records = [record(number, **({"split": "dev"} if number == 1 else {})) for number in range(20)]
    convert(write(tmp_path / "with-splits.jsonl", records), tmp_path / "with-splits", layout="cure")
    assert [case.split for case in CaseSet.open(tmp_path / "with-splits")] == [None, "dev"] + [None] * 18
    source = write(tmp_path / "cure.jsonl", [record(number) for number in range(20)])
    for name, dev, expected in (("few", None, 2), ("none", 0, 0), ("five", 5, 5), ("all", 50, 20)):
        convert(source, tmp_path / name, layout="cure", dev=dev)
        assert Counter(case.split for case in CaseSet.open(tmp_path / name))["dev"] == expected


def test_cases_of_one_patient_stay_together() -> None:
    question = {"id": "q", "kind": "open", "prompt": "?", "gold": "gout"}
    cases = [
        Case.model_validate({"id": f"c{number}", "cluster": f"p{number // 3}", "questions": [question]})
        for number in range(60)
    ]
    split = split_by_id(cases, 5)
    assert Counter(split.values()) == {"dev": 15, "test": 45}
    assert all(len({split[f"c{3 * patient + number}"] for number in range(3)}) == 1 for patient in range(20))


def test_the_command_converts(tmp_path: Path) -> None:
    write(tmp_path / "cure.jsonl", [record(number) for number in range(40)])
    ended = wardround(
        *("cases", "convert", "cure.jsonl", "--from", "cure", "--out", "cure", "--dev", 4, "--json"), cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["cases"] == 40
    assert Counter(case.split for case in CaseSet.open(tmp_path / "cure")) == {"dev": 4, "test": 36}
