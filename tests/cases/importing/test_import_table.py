"""Any table becomes a case set: the form of the file, of options, answers and images is the table's own."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_study import wardround
from PIL import Image

from wardround.cases.conversion import write_cases
from wardround.cases.importing.guessing import guess_map
from wardround.cases.importing.mapped_cases import import_table
from wardround.cases.importing.table_map import TableMap
from wardround.cases.set import CaseSet
from wardround.core.case import Case
from wardround.core.errors import BadInput

CHOICES = {"question": "q", "options": ["A", "B", "C"], "answer": "right"}
ROW = {"q": "Which?", "A": "flu", "B": "gout", "C": "lupus", "right": "B"}
PLAIN_ROW = {"question": "Which?", "A": "flu", "B": "gout", "C": "lupus", "answer": "B"}  # with names that are guessed


def png(shade: int = 9, side: int = 24) -> bytes:
    file = io.BytesIO()
    Image.new("L", (side, side), shade).save(file, "PNG")
    return file.getvalue()


def write_csv(path: Path, rows: list[dict[str, Any]], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    with path.open("w", newline="", encoding=encoding) as lines:
        writer = csv.DictWriter(lines, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(source: Path, **keys: Any) -> list[Case]:
    cases = import_table(source, TableMap(**keys))
    assert not cases.problems
    return list(cases)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_file_is_read_with_the_delimiter_of_its_first_line(tmp_path, delimiter):
    rows = [ROW | {"q": 'Which, of "these"; | ?'}]
    (case,) = read(write_csv(tmp_path / "t.csv", rows, delimiter), **CHOICES)
    assert (case.id, case.questions[0].id) == ("t-0", "mcq")
    assert case.questions[0].prompt == 'Which, of "these"; | ?'
    assert case.questions[0].gold_text == "gout"


@pytest.mark.parametrize(
    ("right", "keys"),
    [
        ("C", {}),
        ("(c)", {}),
        ("C. lupus", {}),
        ("Lupus", {}),
        (2, {"answer_form": "number", "first_number": 0}),
        (3, {"answer_form": "number", "first_number": 1}),
    ],
)
def test_an_answer_may_be_a_letter_a_text_or_a_number(tmp_path, right, keys):
    (case,) = read(write_csv(tmp_path / "t.csv", [ROW | {"right": right}]), **CHOICES, **keys)
    assert case.questions[0].gold == 2


@pytest.mark.parametrize(
    "listed",
    [["flu", "gout"], {"A": "flu", "B": "gout"}, '["flu", "gout"]', "A. flu\nB. gout", "flu|gout", "flu; gout"],
)
def test_options_may_be_one_column_in_any_form(tmp_path, listed):
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps({"q": "Which?", "all": listed, "right": "B"}) + "\n")
    (case,) = read(file, question="q", option_list="all", answer="right")
    assert case.questions[0].options == ["flu", "gout"]
    assert case.questions[0].gold == 1


def test_questions_of_one_table_may_have_fewer_options(tmp_path):
    rows = [ROW, ROW | {"q": "Or?", "C": "", "right": "A"}]
    cases = read(write_csv(tmp_path / "t.csv", rows), **CHOICES)
    assert [len(case.questions[0].choices) for case in cases] == [3, 2]


def test_the_same_question_and_choices_of_every_row(tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"effusion": "No"}, {"effusion": "yes"}])
    cases = read(table, prompt="Is there an effusion?", choices=["yes", "no"], answer="effusion")
    assert [case.questions[0].gold for case in cases] == [1, 0]


def test_patients_are_clusters_and_the_fields_of_a_case_are_filled(tmp_path):
    row = ROW | {"pid": "p7", "years": "054Y", "gender": "female", "notes": "Fever.", "labs": "CRP 80", "kind": "CT"}
    row |= {"labels": "rare; child", "part": "validation", "other": "kept", "secret": "dropped"}
    keys = {"patient": "pid", "age": "years", "sex": "gender", "history": ["notes", "labs"], "modality": "kind"}
    keys |= {"tags": "labels", "split": "part", "keep": "other", "images": "file"}
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "7.png").write_bytes(png())
    first, second = read(
        write_csv(tmp_path / "t.csv", [row | {"file": "7.png"}, row | {"file": ""}]), **CHOICES, **keys
    )
    assert (first.cluster, second.cluster) == ("p7", "p7")
    assert first.patient is not None
    assert (first.patient.age, first.patient.sex) == (54, "F")
    assert first.history == "Fever.\n\nCRP 80"
    assert (first.split, first.tags) == ("val", ["rare", "child"])
    assert [(image.path, image.modality) for image in first.images] == [("images/7.png", "CT")]
    assert first.questions[0].model_extra == {"other": "kept"}
    assert not second.images


def test_rows_of_one_case_are_its_questions_and_show_their_own_images(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(png())
    rows = [ROW | {"case": "c1", "film": "a.png"}, ROW | {"case": "c1", "film": "b.png", "q": "And?"}]
    (case,) = read(write_csv(tmp_path / "t.csv", rows), **CHOICES, case="case", images="film")
    assert case.id == "c1"
    assert [image.path for image in case.images] == ["images/a.png", "images/b.png"]
    assert [question.images for question in case.questions] == [[0], [1]]
    assert [question.id for question in case.questions] == ["mcq", "mcq+"]


def test_a_row_whose_history_is_another_than_that_of_its_case_is_left_out(tmp_path):
    rows = [ROW | {"case": "c1", "notes": "Fever."}, ROW | {"case": "c1", "notes": "Cough."}]
    cases = import_table(write_csv(tmp_path / "t.csv", rows), TableMap(**CHOICES, case="case", history="notes"))
    (problem,) = cases.problems
    assert (problem.line, problem.field) == (3, "notes")
    assert len(next(iter(cases)).questions) == 1


def test_images_may_be_bytes_structs_base64_or_the_index_of_another_row(tmp_path):
    data = png(side=200)
    shown = base64.b64encode(png(3, side=900) + bytes(4000)).decode()
    rows = [ROW | {"index": "1", "image": shown}, ROW | {"index": "2", "image": "1", "q": "And?"}]
    (case,) = read(write_csv(tmp_path / "t.tsv", rows, "\t"), **CHOICES, id="index", images="image")
    assert len(case.images) == 1
    assert [question.id for question in case.questions] == ["1", "2"]
    table = pl.DataFrame(
        [ROW | {"films": [{"bytes": data, "path": None}, {"bytes": png(5), "path": "x"}], "one": data}]
    )
    table.write_parquet(tmp_path / "t.parquet")
    (case,) = read(tmp_path / "t.parquet", **CHOICES, images=["films", "one"])
    assert len(case.images) == 2


def test_a_folder_that_datasets_saved_is_read_with_its_class_names(tmp_path):
    folder = tmp_path / "saved" / "train"
    folder.mkdir(parents=True)
    table = pl.DataFrame({"image": [{"bytes": png(), "path": "x.png"}], "label": [1]})
    table.write_ipc_stream(folder / "data-00000-of-00001.arrow")
    names = {"features": {"label": {"names": ["normal", "pneumonia"], "_type": "ClassLabel"}}}
    (folder / "dataset_info.json").write_text(json.dumps(names))
    (folder / "state.json").write_text("{}")
    (case,) = read(tmp_path / "saved", prompt="What?", choices=["normal", "pneumonia"], answer="label", images="image")
    assert case.questions[0].gold_text == "pneumonia"


def test_the_folders_of_a_saved_data_set_are_its_splits_which_share_no_case(tmp_path):
    for folder in ("train", "validation"):
        (tmp_path / "saved" / folder).mkdir(parents=True)
        table = pl.DataFrame({"q": ["Is it large?"], "image": [{"bytes": png(), "path": None}], "right": ["yes"]})
        table.write_ipc_stream(tmp_path / "saved" / folder / "data-00000-of-00001.arrow")

    cases = read(tmp_path / "saved", question="q", choices=["yes", "no"], answer="right", images="image")

    assert [(case.id, case.split) for case in cases] == [("train-0", "train"), ("validation-0", "val")]


def test_class_names_inside_a_parquet_file_are_read(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    info = {"info": {"features": {"label": {"names": ["normal", "pneumonia"], "_type": "ClassLabel"}}}}
    table = pa.table({"label": [1, 0]}).replace_schema_metadata({"huggingface": json.dumps(info)})
    pq.write_table(table, tmp_path / "t.parquet")
    cases = read(tmp_path / "t.parquet", prompt="What?", choices=["normal", "pneumonia"], answer="label")
    assert [case.questions[0].gold_text for case in cases] == ["pneumonia", "normal"]


def test_a_workbook_is_read_by_the_name_of_its_sheet(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        book.add_worksheet("notes").write_row(0, 0, ["nothing"])
        sheet = book.add_worksheet("cases")
        sheet.write_row(0, 0, [*ROW, "age"])
        sheet.write_row(1, 0, [*ROW.values(), 54])
    (case,) = read(tmp_path / "t.xlsx", **CHOICES, age="age", sheet="cases")
    assert case.patient is not None
    assert case.patient.age == 54


@pytest.mark.parametrize(
    ("changes", "keys", "line", "field", "message"),
    [
        ({"right": "D"}, {}, 3, "right", "is 'D'; the options are A, B, C"),
        ({"right": ""}, {}, 3, "right", "has no answer"),
        ({"q": " "}, {}, 3, "q", "is required"),
        ({"C": "GOUT"}, {}, 3, "A, B, C", "'gout' occurs twice"),
        ({"film": "https://example.org/1.png"}, {"images": "film"}, 3, "film", "is an address"),
        ({"film": "no.png"}, {"images": "film"}, 3, "film", "there is no such file beside t.csv"),
        ({"film": "../../etc/x.png"}, {"images": "film"}, 3, "film", "there is no such file beside t.csv"),
        ({"age": "old"}, {"age": "age"}, 3, "age", "expected an age in years"),
    ],
)
def test_what_cannot_be_mapped_is_named_with_line_and_column(tmp_path, changes, keys, line, field, message):
    empty = {"film": "", "age": ""}
    table = write_csv(tmp_path / "t.csv", [ROW | empty, ROW | empty | changes])
    cases = import_table(table, TableMap(**CHOICES, **keys))
    (problem,) = cases.problems
    assert (problem.line, problem.field) == (line, field)
    assert message in problem.message


def test_a_column_that_the_table_lacks_is_refused_with_those_it_has(tmp_path):
    with pytest.raises(BadInput, match=r"has no column 'history'; its columns are q, A, B, C, right"):
        read(write_csv(tmp_path / "t.csv", [ROW]), **CHOICES, history="history")


def test_another_encoding_is_named_and_can_be_set(tmp_path):
    table = write_csv(tmp_path / "t.csv", [ROW | {"q": "Où?"}], encoding="cp1252")
    with pytest.raises(BadInput, match='encoding = "cp1252"'):
        read(table, **CHOICES)
    assert read(table, **CHOICES, encoding="cp1252")[0].questions[0].prompt == "Où?"


def test_a_row_with_too_many_cells_is_a_problem_and_the_rest_is_read(tmp_path):
    table = write_csv(tmp_path / "t.csv", [ROW, ROW | {"q": "And?"}])
    table.write_text(table.read_text() + "one,two\n")
    cases = import_table(table, TableMap(**CHOICES))
    assert len(cases) == 2
    assert [str(problem.line) + problem.message for problem in cases.problems] == ["4has 2 cells; there are 5 columns"]


def test_the_command_guesses_the_map_shows_three_cases_and_the_map_gives_the_same_set(tmp_path):
    rows = [ROW | {"q": f"Which {number}?"} for number in range(5)]
    renamed = {"q": "Question", "A": "Choice A", "B": "Choice B", "C": "Choice C", "right": "Answer_label"}
    table = write_csv(tmp_path / "t.csv", [{renamed[key]: row[key] for key in row} | {"mood": "x"} for row in rows])
    guessed = wardround("cases", "import", table, "--guess", "--out", tmp_path / "one", cwd=tmp_path)
    assert guessed.returncode == 0
    assert guessed.stderr.count("Right: gout") == 3
    assert "A. flu\nB. gout\nC. lupus" in guessed.stderr
    assert "# not imported: mood" in guessed.stdout
    (tmp_path / "map.toml").write_text(guessed.stdout)
    mapped = wardround(
        "cases", "import", table, "--map", tmp_path / "map.toml", "--out", tmp_path / "two", cwd=tmp_path
    )
    assert mapped.stdout.startswith("5 cases written to")
    assert (tmp_path / "one" / "cases.jsonl").read_bytes() == (tmp_path / "two" / "cases.jsonl").read_bytes()


def test_the_command_writes_nothing_with_strict_and_says_what_it_needs(tmp_path):
    table = write_csv(tmp_path / "t.csv", [ROW, ROW | {"right": "F"}])
    (tmp_path / "map.toml").write_text('question = "q"\noptions = ["A", "B", "C"]\nanswer = "right"\n')
    arguments = ("cases", "import", table, "--map", tmp_path / "map.toml", "--out", tmp_path / "set")
    assert wardround(*arguments, "--strict", cwd=tmp_path).returncode == 1
    assert not (tmp_path / "set").exists()
    result = json.loads(wardround(*arguments, "--json", cwd=tmp_path).stdout)
    assert (result["cases"], result["problems"][0]["line"]) == (1, 3)
    assert wardround("cases", "import", table, cwd=tmp_path).returncode == 2


def test_a_table_without_an_answer_cannot_be_guessed_and_its_columns_are_named(tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"Question": "Which?", "mood": "x"}])
    result = wardround("cases", "import", table, "--guess", cwd=tmp_path)
    assert result.returncode == 1
    assert "no column looks like the answer; its columns are Question, mood" in result.stderr


def test_the_guess_finds_the_folder_of_the_images_and_names_without_a_suffix(tmp_path):
    (tmp_path / "2024" / "films").mkdir(parents=True)
    for number in range(3):
        (tmp_path / "2024" / "films" / f"scan{number}.png").write_bytes(png(number))
    table = write_csv(tmp_path / "t.csv", [PLAIN_ROW | {"picture": f"scan{number}"} for number in range(3)])

    guessed = guess_map(table)

    assert (guessed.images, guessed.image_folders) == (["picture"], ["2024/films"])
    assert [case.images[0].path for case in import_table(table, guessed)] == [
        f"images/scan{number}.png" for number in range(3)
    ]


def test_an_image_name_that_two_folders_hold_is_not_guessed(tmp_path):
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.png").write_bytes(png())
    table = write_csv(tmp_path / "t.csv", [PLAIN_ROW | {"film": "1.png"}])

    assert guess_map(table).image_folders == []


def test_a_guess_whose_images_are_missing_still_proposes_the_map_and_names_the_key(tmp_path):
    table = write_csv(tmp_path / "t.csv", [PLAIN_ROW | {"film": "gone.png"}])

    result = wardround("cases", "import", table, "--guess", cwd=tmp_path)

    assert result.returncode == 1
    assert 'images = "film"' in result.stdout
    assert "t.csv:2: film: 'gone.png': there is no such file" in result.stderr
    assert 'image_folders = "FOLDER"' in result.stderr


def test_images_of_one_name_in_the_folders_of_two_tables_stay_two_images(tmp_path):
    for folder, shade in (("test", 10), ("train", 200)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.png").write_bytes(png(shade))
        write_csv(tmp_path / folder / "t.csv", [ROW | {"film": "1.png"}])

    cases = import_table(tmp_path, TableMap(**CHOICES, images="film"))
    write_cases(cases, tmp_path / "set")

    written = list(CaseSet.open(tmp_path / "set"))
    assert [case.split for case in written] == ["test", "train"]
    bytes_of_cases = [(tmp_path / "set" / case.images[0].path).read_bytes() for case in written]
    assert bytes_of_cases == [png(10), png(200)]
