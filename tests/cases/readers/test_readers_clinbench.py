"""ClinBench's records: options in every usual shape, two tellings joined into one case, one line for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround
from PIL import Image

from wardround.cases.conversion import convert
from wardround.cases.readers.clinbench import QUESTION, SPECIALTIES, read_clinbench, specialty_named
from wardround.cases.readers.tables.option_lists import gold_index, parse_options
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError

SIX = ["Gout", "Lupus", "Sarcoidosis", "Lymphoma", "Hepatitis B", "Behcet's disease, ocular"]


def record(number: int = 1, way: str = "text", **fields: Any) -> dict[str, Any]:
    letters = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCDEF", SIX, strict=True))
    stem = f"Patient {number}, 66 years. CT showed {'a mass' if way == 'text' else 'what Figure 1 shows'}."
    record = {"id": f"ClinBench-{way}-{number:05}", "question_stem": stem, "options": letters, "answer": "C"}
    return record | ({"image": f"{number}.png"} if way == "mm" else {}) | fields


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(records)) if path.suffix == ".json" else "\n".join(map(json.dumps, records)))
    return path


def image(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (6, 6), 90).save(path)


@pytest.mark.parametrize(
    "written",
    [
        "A. {}\nB. {}\nC. {}\nD. {}\nE. {}\nF. {}",
        "A: {}\nB: {}\nC: {}\nD: {}\nE: {}\nF: {}\n",
        "A) {}; B) {}; C) {}; D) {}; E) {}; F) {}",
        "(A) {} (B) {} (C) {} (D) {} (E) {} (F) {}",
        "A. {} | B. {} | C. {} | D. {} | E. {} | F. {}",
        "[A] {}, [B] {}, [C] {}, [D] {}, [E] {}, [F] {}",
        "a) {}\nb) {}\n\nc) {}\nd) {}\ne) {}\nf) {}",
        "A. {}, B. {}, C. {}, D. {}, E. {}, F. {}",
        "{}\n{}\n{}\n{}\n{}\n{}",
        "{}; {}; {}; {}; {}; {}",
        "- {}\n- {}\n- {}\n- {}\n- {}\n- {}",
        "1. {}\n2. {}\n3. {}\n4. {}\n5. {}\n6. {}",
        "1) {}; 2) {}; 3) {}; 4) {}; 5) {}; 6) {}",
        "**A.** {}\n**B.** {}\n**C.** {}\n**D.** {}\n**E.** {}\n**F.** {}",
        "**A**. {} **B**. {} **C**. {} **D**. {} **E**. {} **F**. {}",
    ],
)
def test_options_in_one_text(written: str) -> None:
    assert list(parse_options(written.format(*SIX)).values()) == SIX


def test_what_only_looks_like_a_list_s_mark_stays() -> None:
    assert list(parse_options("- 5 mmol\n5 mmol").values()) == ["- 5 mmol", "5 mmol"]
    assert list(parse_options("3. ventricle\n4. ventricle").values()) == ["3. ventricle", "4. ventricle"]


@pytest.mark.parametrize(
    "shape",
    [
        SIX,
        dict(zip("ABCDEF", SIX, strict=True)),
        dict(zip("FEDCBA", SIX[::-1], strict=True)),
        json.dumps(SIX),
        str(SIX),
    ],
)
def test_options_as_lists_and_by_letter(shape: Any) -> None:
    assert parse_options(shape) == dict(zip("ABCDEF", SIX, strict=True))
    assert list(parse_options([f"{'ABCDEF'[place]}. {option}" for place, option in enumerate(SIX)]).values()) == SIX


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("A. Hepatitis B. B. Hepatitis C. C. Gout", "cannot be split"),  # nobody can say where B begins
        ("Gout", "cannot be split"),
        ("", "is required"),
        (7, "should be a text, a list"),
        ([1, 2], "expected text"),
        ({"1": "Gout"}, "is not the letter"),
        (["Gout", "gout."], "occurs twice"),
        ([str(number) for number in range(27)], "more than letters"),
    ],
)
def test_options_that_are_ambiguous_are_refused(written: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        parse_options(written)


@pytest.mark.parametrize(
    "answer", ["E", "e", "(E)", "E.", "E. Hepatitis B", "E) hepatitis b.", "Hepatitis B", "hepatitis B.", ["E"]]
)
def test_answers_by_letter_with_text_and_by_text(answer: Any) -> None:
    assert gold_index(dict(zip("ABCDEF", SIX, strict=True)), answer) == 4


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [("G", "the options are"), ("E. Gout", "but E is"), ("Measles", "is no option"), (3, "neither"), ("", "required")],
)
def test_answers_that_name_no_option(answer: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        gold_index(dict(zip("ABCDEF", SIX, strict=True)), answer)


def test_text_and_multimodal_files_become_one_case_with_two_tellings(tmp_path: Path) -> None:
    for name in ("1.png", "2.png"):
        image(tmp_path / "images" / name)
    write(
        tmp_path / "ClinBench_text.json", record(1, specialty="GH", rare=True, journal="X"), record(2, specialty="Ped")
    )
    write(tmp_path / "ClinBench_mm.jsonl", record(1, "mm", image=["1.png", "2.png"]), record(2, "mm", rare=False))
    out = tmp_path / "set"
    assert convert(tmp_path, out, layout="clinbench") == (2, [])
    first, second = CaseSet.open(out)
    assert first.id == "ClinBench-00001"
    assert (first.specialty, first.tags) == ("Gastroenterology and Hematology", ["rare"])
    assert (second.specialty, second.tags) == ("Pediatrics", ["non-rare"])
    assert first.tellings["text"].history == "Patient 1, 66 years. CT showed a mass."
    assert first.tellings["text"].images == []
    assert first.tellings["multimodal"].history == "Patient 1, 66 years. CT showed what Figure 1 shows."
    assert first.tellings["multimodal"].images == [0, 1]
    assert [image.path for image in first.images] == ["images/1.png", "images/2.png"]
    assert (first.questions[0].prompt, first.questions[0].options, first.questions[0].gold) == (QUESTION, SIX, 2)
    assert first.as_written()["journal"] == "X"


def test_a_byte_order_mark_and_a_printed_list_of_images_cost_nothing(tmp_path: Path) -> None:
    for name in ("1.png", "2.png"):
        image(tmp_path / "images" / name)
    for name, shown in (("a.json", '["1.png", "2.png"]'), ("b.jsonl", "['1.png', '2.png']")):
        file = write(tmp_path / name, record(1, "mm", image=shown))
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        read = read_clinbench(file)
        assert read.problems == []
        (case,) = read
        assert [image.path for image in case.images] == ["images/1.png", "images/2.png"]


def test_another_specialty_is_named_once(tmp_path: Path) -> None:
    records = [record(number, specialty="Podiatry") for number in range(3)]
    read = read_clinbench(write(tmp_path / "a.json", *records))
    assert len(read) == 3
    assert [problem.message for problem in read.problems] == [
        "'Podiatry' is not one of ClinBench's 11 (cases with it are kept)"
    ]


def test_the_question_at_the_end_of_a_stem_becomes_the_prompt(tmp_path: Path) -> None:
    asked = "Which of the following diseases is the most likely primary diagnosis? Please choose the most probable one."
    (case,) = read_clinbench(write(tmp_path / "a.json", record(question_stem=f"A man coughs. What else?\n\n{asked}")))
    assert (case.tellings["text"].history, case.questions[0].prompt) == ("A man coughs. What else?", asked)


def test_specialties_by_their_short_and_long_names() -> None:
    for short, full in SPECIALTIES.items():
        assert specialty_named(short) == specialty_named(full) == specialty_named(full.upper()) == full
    assert specialty_named("Obstetrics & Gynaecology") == "Obstetrics and Gynecology"
    assert specialty_named("Paediatrics") == "Pediatrics"
    assert specialty_named("Radiology") == "Radiology"


def test_two_folders_may_have_an_image_of_the_same_name(tmp_path: Path) -> None:
    for number in (1, 2):
        image(tmp_path / f"part-{number}" / "scan.png")
        write(tmp_path / f"part-{number}" / "mm.json", record(number, "mm", image="scan.png"))
    first, second = read_clinbench(tmp_path)
    assert [first.images[0].path, second.images[0].path] == ["images/scan.png", "images/scan-2.png"]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"id": None}, "[1].id: is required"),
        ({"question_stem": ""}, "[1].question_stem: is required"),
        ({"options": "Gout"}, "[1].options: cannot be split into options: 'Gout'"),
        ({"answer": "J"}, "[1].answer: is 'J'; the options are A, B, C, D, E, F"),
        ({"answer": "A. Lupus"}, "[1].answer: is 'A. Lupus', but A is 'Gout'"),
        ({"image": "no.png"}, "[1].image: 'no.png': there is no such file beside text.json or in images/"),
        ({"image": [3]}, "[1].image: should be a name or a list of names"),
        ({"rare": "perhaps"}, "[1].rare: is 'perhaps'; expected true or false, rare or non-rare"),
        ({"id": "ClinBench-text-00001"}, "[1].id: 'ClinBench-00001' has two records with the telling text"),
        (
            {"specialty": "Radiology"},
            "[1].specialty: 'Radiology' is not one of ClinBench's 11 (cases with it are kept)",
        ),
        (
            {"options": "A. Gout\nB. Lupus", "answer": "A"},
            "[1].options: are 2; ClinBench's questions have 6 or more (the case is kept)",
        ),
    ],
)
def test_a_bad_record_is_one_line_and_the_others_are_read(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    read = read_clinbench(write(tmp_path / "text.json", record(1), record(2, **fields)))
    assert list(map(str, read.problems)) == [f"{tmp_path / 'text.json'}: {line}"]
    assert len(read) == 2 if "kept" in line else len(read) == 1


def test_tellings_that_disagree_are_not_joined(tmp_path: Path) -> None:
    image(tmp_path / "1.png")
    write(tmp_path / "a_text.jsonl", record(1), record(2))
    mm = write(
        tmp_path / "b_mm.jsonl", record(1, "mm", answer="D"), record(2, "mm", image=""), record(3, "mm", image="1.png")
    )
    read = read_clinbench(tmp_path)
    assert list(map(str, read.problems)) == [
        f"{mm}:1: answer: is not that of the case's other telling (a_text.jsonl)",
        f"{mm}:2: image: is required in a multimodal record",
    ]
    assert [list(case.tellings) for case in read] == [["text"], ["text"], ["multimodal"]]


def test_one_file_for_each_question(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps(record(number)))
    (tmp_path / "3.json").write_text("{")
    (tmp_path / "4.json").write_text(json.dumps(record(4, "mm", image="")))
    read = read_clinbench(tmp_path)
    assert [case.id for case in read] == ["ClinBench-00001", "ClinBench-00002"]
    broken, without = map(str, read.problems)
    assert broken.startswith(f"{tmp_path / '3.json'}: is not JSON")
    assert without == f"{tmp_path / '4.json'}: image: is required in a multimodal record"


def test_what_is_no_object_between_records_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text(json.dumps([record(), 7, record(2)]))
    read = read_clinbench(tmp_path)
    assert len(list(read)) == 2
    assert [str(problem) for problem in read.problems] == [f"{tmp_path / 'text.json'}: [1].id: is required"]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [("{", "is not JSON"), ("[]", "contains no records"), ('[{"question_stem": 3}]', "id: is required")],
)
def test_a_file_without_any_record_is_refused_in_one_line(tmp_path: Path, content: str, wrong: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(WardroundError, match=wrong) as refused:
        read_clinbench(tmp_path)
    assert "\n" not in str(refused.value)
    ended = wardround("cases", "convert", tmp_path / "nowhere", "--from", "clinbench", "--out", "out", cwd=tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
