"""X-PCR's layout and rows: chains, patients, images, field maps, and files that are broken in every way."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_study import wardround
from published_tables import picture

from wardround.cases.conversion import convert
from wardround.cases.readers.tables.row_files import read_rows
from wardround.cases.readers.xpcr.cases import read_xpcr
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
GIVEN = {"iqa": [], "al": ["iqa"], "lc": ["al"], "dd": ["lc"], "sg": ["dd"], "cd": ["dd", "sg"]}


def row(stage: str, image: str | None = "images/CFP/1.png", **fields: Any) -> dict[str, Any]:
    """As specs and README have it."""
    return {
        "stage": stage,
        "question": f"{stage} of {image}?",
        "options": {"A": "one", "B": "two", "C": "three", "D": "four"},
        "answer": "C",
        "level": "R",
        "importance": 0.5,
        "disease": "DR",
        "source_dataset": "IDRiD",
        **({"images": [image]} if image else {}),
        **fields,
    }


def layout(folder: Path, rows: list[dict[str, Any]], name: str = "annotations/test.json") -> Path:
    """A folder with these rows and every image that they name by a path."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(file)
    elif file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        file.write_text(json.dumps(rows))
    for number, path in enumerate(path for row in rows for path in row.get("images") or []):
        if isinstance(path, str) and path.endswith(".png"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(picture(number))
    return folder


@pytest.mark.parametrize(
    "name", ["annotations/test.json", "annotations/test.jsonl", "data/test-00000-of-00001.parquet"]
)
def test_rows_of_one_image_become_a_case_with_a_chain(tmp_path: Path, name: str) -> None:
    rows = [row(stage, f"images/{kind}/1.png") for kind in ("CFP", "OCT") for stage in STAGES]
    first, second = read_xpcr(layout(tmp_path, rows, name))
    assert [case.id for case in (first, second)] == ["CFP-1", "OCT-1"]
    assert first.split == "test"
    assert [image.modality for image in second.images] == ["OCT"]
    assert {question.id: question.given for question in first.questions} == GIVEN
    assert {question.chain for question in first.questions} == {"c1"}
    iqa = first.questions[0]
    assert (iqa.stage, iqa.grade, iqa.importance, iqa.gold, iqa.images) == ("IQA", "R", 0.5, 2, None)
    assert iqa.model_extra == {"disease": "DR", "source_dataset": "IDRiD"}


def test_all_kinds_of_file_give_the_same(tmp_path: Path) -> None:
    rows = [row(stage, f"images/CFP/{number}.png") for number in range(3) for stage in STAGES]
    names = ("test.json", "test.jsonl", "test.parquet")
    versions = [[case.as_written() for case in read_xpcr(layout(tmp_path / name[5:], rows, name))] for name in names]
    assert versions[0] == versions[1] == versions[2]


def test_rows_as_the_dataset_viewer_wraps_them(tmp_path: Path) -> None:
    folder = layout(tmp_path, [row(stage) for stage in STAGES])
    file = folder / "annotations" / "test.json"
    wrapped = [
        {"row_idx": n, "row": fields, "truncated_cells": []} for n, fields in enumerate(json.loads(file.read_text()))
    ]
    document = {"features": [{"feature_idx": 0, "name": "stage"}], "rows": wrapped, "num_rows_total": 6}
    file.write_text(json.dumps(document))
    read = read_xpcr(folder)
    assert read.problems == []
    assert [len(case.questions) for case in read] == [6]


def test_the_names_of_the_overview_picture_are_known_too(tmp_path: Path) -> None:
    rows = [row(stage) for stage in ("QA", "AL", "PF", "DR", "Severity Grading (SG)", "clinical decision-making")]
    (case,) = read_xpcr(layout(tmp_path, rows))
    assert [question.stage for question in case.questions] == list(STAGES)


def test_chains_that_rows_name_and_stages_that_are_not_there(tmp_path: Path) -> None:
    rows = [row(stage, chain_id=chain) for chain in ("left", "right") for stage in ("IQA", "DD", "CD")]
    rows += [row("AL", chain_id="left"), row("LC", "images/CFP/2.png")]
    two, alone = read_xpcr(layout(tmp_path, rows))
    links = {question.id: (question.chain, question.given) for question in two.questions}
    assert links == {
        "iqa": ("left", []),
        "dd": ("left", ["al"]),
        "cd": ("left", ["dd"]),
        "iqa-2": ("right", []),
        "dd-2": ("right", ["iqa-2"]),
        "cd-2": ("right", ["dd-2"]),
        "al": ("left", ["iqa"]),
    }
    assert (alone.questions[0].stage, alone.questions[0].chain) == ("LC", None)


def test_patients_and_shared_images_are_one_case(tmp_path: Path) -> None:
    cfp, oct = "images/CFP/a.png", "images/OCT/b.png"
    rows = [
        row("DD", cfp, id="q1"),
        row("DD", oct, id="q2"),
        {**row("DD", None, id="q3", task="Diagnostic Integration", images=[cfp, oct])},
        row("DD", "images/EP/c.png", id="q4", patient_id=7),
        row("DD", "images/FFA/d.png", id="q5", patient_id=7),
    ]
    del rows[2]["stage"]
    both, patient = read_xpcr(layout(tmp_path, rows))
    assert [(question.id, question.images) for question in both.questions] == [("q1", [0]), ("q2", [1]), ("q3", [0, 1])]
    assert both.questions[2].task == "integration"
    assert (patient.id, [image.modality for image in patient.images]) == ("7", ["EP", "FFA"])


def test_ids_stay_apart(tmp_path: Path) -> None:
    """Also where a row is named as another would be with a number behind it."""
    names = ("q", "q", "q-2", "q")
    rows = [row("DD", id=name, patient_id=patient) for patient in ("p", "p-2") for name in names]
    layout(tmp_path, [fields | {"split": split} for split in ("val", "test") for fields in rows])
    cases = list(read_xpcr(tmp_path))
    assert len({case.id for case in cases}) == len(cases)
    assert all(len({question.id for question in case.questions}) == len(case.questions) for case in cases)
    assert sum(len(case.questions) for case in cases) == 16


def test_splits_of_one_image_are_cases_of_one_cluster(tmp_path: Path) -> None:
    layout(tmp_path, [row("DD")], "annotations/train.json")
    cases = list(read_xpcr(layout(tmp_path, [row("SG")], "annotations/test.json")))
    assert {case.split for case in cases} == {"train", "test"}
    assert len({case.id for case in cases}) == 2
    assert len({case.cluster_id for case in cases}) == 1


def test_multimodal_cases_have_the_images_of_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "multimodal_cases/case_001"
    for path in ("CFP/left.png", "oct_1.png", "ICGA/3.png"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(picture(len(path)))
    asked = {key: value for key, value in row("DD", None).items() if key != "stage"}
    document = {
        "age": 61,
        "sex": "F",
        "clinical_history": "Blurred vision.",
        "qa_pairs": [{**asked, "task": task} for task in ("correspondence", "integration", "modality selection")],
    }
    (folder / "case.json").write_text(json.dumps(document))
    (case,) = read_xpcr(tmp_path)
    assert (case.id, case.history, case.patient and case.patient.age) == ("case_001", "Blurred vision.", 61)
    assert [image.modality for image in case.images] == ["CFP", "ICGA", "OCT"]
    assert [question.task for question in case.questions] == ["correspondence", "integration", "selection"]
    count, problems = convert(tmp_path, tmp_path / "set", layout="xpcr")
    assert (count, problems) == (1, [])
    assert (tmp_path / "set/multimodal_cases/case_001/CFP/left.png").read_bytes() == (
        folder / "CFP/left.png"
    ).read_bytes()


def test_images_inside_rows(tmp_path: Path) -> None:
    kept = {"bytes": picture(1), "path": "x.png"}
    document = [{**row(stage, None), "image": kept} for stage in STAGES]
    layout(tmp_path / "hf", document, "train.parquet")
    encoded = base64.b64encode(picture(1, size=24)).decode()
    layout(tmp_path / "lines", [{**row(stage, None), "image": encoded} for stage in STAGES], "test.jsonl")
    for source, data in (("hf", picture(1)), ("lines", picture(1, size=24))):
        convert(tmp_path / source, tmp_path / f"{source}-set", layout="xpcr")
        (case,) = CaseSet.open(tmp_path / f"{source}-set")
        (image,) = case.images
        assert (tmp_path / f"{source}-set" / image.path).read_bytes() == data
        assert len(case.questions) == 6


def renamed(fields: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in fields.items()}


def test_a_field_map_reads_other_names_and_what_is_unmapped_is_reported_once(tmp_path: Path) -> None:
    rows = [renamed(row(stage), question="inquiry", level="Lvl") | {"zoom": 2} for stage in STAGES]
    layout(tmp_path, rows)
    with pytest.raises(WardroundError, match=r"test.json: \[0\].question: is required: no field of the row is called"):
        read_xpcr(tmp_path)
    own = tmp_path / "map.toml"
    own.write_text('[fields]\nquestion = "inquiry"\n')
    cases = read_xpcr(tmp_path, own)
    problems = [str(problem).partition("test.json: ")[2] for problem in cases.problems]
    assert problems == [
        "Lvl: is in no field map, and is kept as it is; "
        'to read it as level, write level = "Lvl" under [fields] of a --map file',
        "zoom: is in no field map, and is kept as it is",
    ]
    (case,) = cases
    assert case.questions[0].model_extra == {"disease": "DR", "source_dataset": "IDRiD", "Lvl": "R", "zoom": 2}
    own.write_text('ignore = ["zoom"]\n[fields]\nquestion = "inquiry"\nlevel = ["Lvl"]\n')
    cases = read_xpcr(tmp_path, own)
    assert cases.problems == []
    assert next(iter(cases)).questions[0].grade == "R"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fields]\nqestion = 'x'\n", "fields.qestion: is not a field; did you mean question?"),
        ("[stages]\nXX = ['x']\n", "stages.XX: is not one of IQA, AL"),
        ("[colours]\n", "colours: unknown key"),
        ("[fields\n", "is not TOML"),
        ("[fields]\nid = 3\n", "fields.id: "),
    ],
)
def test_field_maps_that_are_wrong(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "map.toml"
    own.write_text(text)
    with pytest.raises(WardroundError) as caught:
        read_xpcr(layout(tmp_path / "set", [row("DD")]), own)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stage": "XX"}, "[1].stage: 'XX' is not a stage: IQA, AL, LC, DD, SG, CD"),
        ({"level": "professor"}, "[1].level: 'professor' is not a level: R, A, S"),
        (
            {"task": "intergration"},
            "[1].task: 'intergration' is not a task: correspondence, integration, selection; did you mean integration?",
        ),
        ({"options": None}, "[1].options: is required"),
        ({"options": ["same", "same"]}, "[1].options: 'same' occurs twice"),
        ({"options": ["one"]}, "[1].answer: is 'C'; the options are A"),
        ({"answer": "E"}, "[1].answer: is 'E'; the options are A, B, C, D"),
        ({"answer": 4}, "[1].answer: is option 4; there are 0 to 3"),
        ({"answer": None}, "[1].answer: is required"),
        ({"importance": "much"}, "[1].importance: 'much' is not a number"),
        ({"importance": -1}, "[1].importance: "),
        ({"age": 200}, "[1].age: "),
        ({"images": ["images/CFP/none.png"]}, "[1].images: 'images/CFP/none.png': there is no such file"),
        ({"images": ["???"]}, "[1].images: is neither base64 nor the path of an image"),
        ({"images": [3]}, "[1].images: an image is a path, base64, or an object"),
    ],
)
def test_a_row_that_is_wrong_is_named_and_the_rest_is_read(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    layout(tmp_path, [row("DD")])
    rows = [row("DD"), {**row("SG"), **change}]
    (tmp_path / "annotations/test.json").write_text(json.dumps(rows))
    cases = read_xpcr(tmp_path)
    assert len(next(iter(cases)).questions) == 1
    (problem,) = cases.problems
    assert said in str(problem)
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"", "is empty"),
        ("a.json", b"3", "is not a list or an object of JSON"),
        ("a.json", b"[3]", "[0]: should be an object"),
        ("a.json", b'[{"a": 1}', "is not JSON: expected ',', not the end"),
        ("a.json", b'[{"a": 1} {"b": 2}]', "is not JSON: expected ',', not '{'"),
        ("a.json", b'[{"a": 1}, {"b": tru}]', "[1]: is not JSON"),
        ("a.json", b'{"a": [1, 2', "is not JSON"),
        ("a.json", b'{"question": "x"}\n{"question": "y"}', "one object a line belongs into a .jsonl file"),
        ("a.json", b'["\xff"]', "it is not UTF-8"),
        ("a.json", b"[" * 100_000, "is not JSON"),
        ("a.json", b"{}", "contains no rows"),
        ("a.json", b'{"rows": []}', "contains no rows"),
        ("a.jsonl", b"{", "a.jsonl:1: is not JSON"),
        ("a.jsonl", b"[]\n", "a.jsonl:1: is not an object"),
        ("a.parquet", b"PAR1 no", "cannot be read as Parquet"),
        ("a.parquet", b"", "cannot be read as Parquet"),
        ("a.csv", b"x", "contains no .json or .jsonl or .parquet file"),
    ],
)
def test_a_file_that_is_broken_is_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WardroundError) as caught:
        read_xpcr(tmp_path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_file_does_not_cost_the_others(tmp_path: Path) -> None:
    layout(tmp_path, [row("DD")])
    (tmp_path / "annotations/val.json").write_text('[{"question": ')
    (tmp_path / "annotations/info.json").write_text('{"version": 1, "names": ["a", "b"]}')
    cases = read_xpcr(tmp_path)
    assert len(cases) == 1
    (problem,) = cases.problems
    assert "val.json: [0]: is not JSON" in str(problem)


def test_many_rows_with_the_same_fault_are_counted(tmp_path: Path) -> None:
    cases = read_xpcr(layout(tmp_path, [row("DD"), *(row("SG", answer="Z") for _ in range(50))]))
    assert len(cases.problems) == 21
    assert str(cases.problems[-1]).endswith("answer: is wrong in 30 more rows")


def test_json_is_read_in_pieces_as_a_whole_reader_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {
        "info": {"version": 1.5},
        "data": [{"question": f'"[{number}],{{}}\\" é\u2028', "n": [number, {"x": 1e-5}]} for number in range(40)],
        "more": [{"question": "last"}],
    }
    file = tmp_path / "a.json"
    for indent in (None, 2):
        file.write_text(json.dumps(document, indent=indent, ensure_ascii=indent is None), encoding="utf-8")
        for chunk in (1, 7, 64, 1 << 20):
            monkeypatch.setattr("wardround.cases.readers.tables.row_files.CHUNK", chunk)
            rows = [fields for _, fields in read_rows(file, [], lambda name: name == "question")]
            assert rows == [*document["data"], *document["more"]]


def test_convert_from_xpcr_as_a_command(tmp_path: Path) -> None:
    layout(tmp_path / "source", [renamed(row(stage), question="inquiry") for stage in STAGES])
    command = ("cases", "convert", "source", "--from", "xpcr", "--out", "set")
    refused = wardround(*command, cwd=tmp_path)
    assert refused.returncode == 1
    assert len(refused.stderr.strip().splitlines()) == 1
    (tmp_path / "map.toml").write_text('[fields]\nquestion = "inquiry"\n')
    done = wardround(*command, "--map", "map.toml", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == {"cases": 1, "out": "set", "problems": []}
    assert len(CaseSet.open(tmp_path / "set").case(0).questions) == 6
    other = wardround("cases", "convert", "source", "--from", "cure", "--map", "map.toml", "--out", "x", cwd=tmp_path)
    assert "a field map works with the layout xpcr only" in other.stderr


def test_the_released_rows_have_options_in_the_question_and_stages_as_categories(tmp_path: Path) -> None:
    """As the viewer of Fantasy666/X-PCR showed its rows on 2026-11-18."""
    quality = {"category": "Image Quality", "sub_label": "Clarity", "question_type": "single_choice"}
    quality |= {"question": "How clear is it?\nOptions: ['excellent', 'good']", "answer": "good"}
    diagnosis = quality | {"question": "Which?\nOptions: ['AMD', 'none']", "answer": "AMD"}
    diagnosis["category"] = "Disease Diagnosis"
    other = quality | {"category": "Vessels", "question": "Which side?\nOptions: ['left', 'right']", "answer": "left"}
    row = {"id": "cfp_000000", "modality": "cfp", "image_path": "a.png", "qa_pairs": [quality, diagnosis, other]}
    (tmp_path / "a.png").write_bytes(picture(1))
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")

    cases = read_xpcr(tmp_path)

    (case,) = cases
    assert case.id == "cfp_000000"
    assert [(question.id, question.prompt, question.options) for question in case.questions] == [
        ("iqa", "How clear is it?", ["excellent", "good"]),
        ("dd", "Which?", ["AMD", "none"]),
        ("q", "Which side?", ["left", "right"]),
    ]
    assert [question.stage for question in case.questions] == ["IQA", "DD", None]
    assert case.questions[1].given == ["iqa"]
    assert [(problem.field, problem.message.partition(";")[0]) for problem in cases.problems] == [
        ("category", "'Vessels' is not a stage or a task, and is kept as it is")
    ]
