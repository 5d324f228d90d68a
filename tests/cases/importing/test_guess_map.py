"""What `--guess` finds in tables as hospitals export them: encodings, sheets, languages, diagnoses alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exam_study import wardround

from wardround.cases.importing.cells import as_age
from wardround.cases.importing.guessing import guess_map
from wardround.cases.importing.mapped_cases import import_table
from wardround.cases.importing.table_map import TableMap
from wardround.core.errors import BadInput

GERMAN = """Fallnummer;Patientennummer;Alter;Geschlecht;Anamnese;Frage;Antwort A;Antwort B;Lösung
1;P1;54 J.;w;Husten; Was fehlt ihr?;Lungenentzündung;Normalbefund;A
;;;;;;;;
2;P2;8 Monate;m;Fieber;Was fehlt ihm?;Lungenentzündung;Normalbefund;B
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_german_table_is_understood_in_the_encoding_that_excel_gave_it(tmp_path, encoding):
    table = tmp_path / "fragen.csv"
    table.write_bytes(GERMAN.encode(encoding))
    guessed = guess_map(table)
    assert guessed.encoding == (
        encoding if encoding in ("cp1252", "utf-16") else TableMap.model_fields["encoding"].default
    )
    cases = import_table(table, guessed)
    assert not cases.problems  # the empty row is none
    first, second = cases
    assert [first.questions[0].gold_text, second.questions[0].gold_text] == ["Lungenentzündung", "Normalbefund"]
    assert first.patient is not None
    assert second.patient is not None
    assert [first.patient.age, first.patient.sex, second.patient.age] == [54, "F", 0.67]
    assert [first.cluster, second.cluster] == ["P1", "P2"]


def test_a_wrong_encoding_of_utf_16_is_told_with_the_right_one(tmp_path):
    (tmp_path / "t.csv").write_bytes(GERMAN.encode("utf-16"))
    with pytest.raises(BadInput, match='encoding = "utf-16"'):
        import_table(
            tmp_path / "t.csv", TableMap(question="Frage", options=["Antwort A", "Antwort B"], answer="Lösung")
        )


def test_the_delimiter_that_excel_writes_into_a_first_line_is_obeyed_and_lines_are_counted_with_it(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\nquestion, in full;A;B;answer\nWhich?;flu;gout;B\nWhich?;flu;gout;C\n")
    cases = import_table(
        tmp_path / "t.csv", TableMap(question="question, in full", options=["A", "B"], answer="answer")
    )
    assert [case.questions[0].gold_text for case in cases] == ["gout"]
    assert [problem.line for problem in cases.problems] == [4]


def workbook(file: Path, sheets: dict[str, list[list[object]]]) -> Path:
    import xlsxwriter

    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file


def test_the_first_sheet_with_questions_is_proposed_and_rows_after_an_empty_one_keep_their_numbers(tmp_path):
    questions = [["Question", "Option 1", "Option 2", "Correct"], ["Which?", "flu", "gout", 1], []]
    questions += [["And?", "flu", "gout", 2], ["Or?", "flu", "gout", 7]]
    table = workbook(tmp_path / "t.xlsx", {"Read me": [["For the exam"]], "Exam": questions})
    guessed = guess_map(table)
    assert (guessed.sheet, guessed.answer_form, guessed.first_number) == ("Exam", "number", 1)
    cases = import_table(table, guessed)
    assert [case.questions[0].gold_text for case in cases] == ["flu", "gout"]
    assert [problem.line for problem in cases.problems] == [5]


def test_a_workbook_without_questions_or_without_the_sheet_is_refused_with_its_sheets(tmp_path):
    table = workbook(tmp_path / "t.xlsx", {"one": [["x"], [1]], "two": [["y"], [2]]})
    with pytest.raises(BadInput, match=r"its sheets are one, two.*sheet = "):
        guess_map(table)
    with pytest.raises(BadInput, match="has no sheet 'three'; its sheets are one, two"):
        import_table(table, TableMap(question="x", answer="x", sheet="three"))


@pytest.mark.parametrize("pair", [["ja", "nein"], ["oui", "non"], ["true", "false"]])
def test_answers_that_mean_yes_and_no_become_choices_in_their_language(tmp_path, pair):
    rows = "".join(f"Is it? {number},{answer.title()}\n" for number, answer in enumerate(pair))
    (tmp_path / "t.csv").write_text(f"question,answer\n{rows}")
    guessed = guess_map(tmp_path / "t.csv")
    assert guessed.choices == pair
    assert [case.questions[0].gold for case in import_table(tmp_path / "t.csv", guessed)] == [0, 1]


def test_y_and_n_are_yes_and_no(tmp_path):
    (tmp_path / "t.csv").write_text("statement,answer\nIt is clear,Y\nIt is not,n\n")
    guessed = guess_map(tmp_path / "t.csv")
    assert (guessed.question, guessed.choices) == (["statement"], ["yes", "no"])
    assert [case.questions[0].gold for case in import_table(tmp_path / "t.csv", guessed)] == [0, 1]


def test_a_table_of_yes_and_no_without_a_question_is_not_asked_for_a_diagnosis(tmp_path):
    (tmp_path / "t.csv").write_text("file,finding\na.png,yes\nb.png,no\n")
    with pytest.raises(BadInput, match=r"column 'finding' says yes or no, but no column looks like the question"):
        guess_map(tmp_path / "t.csv")


def test_one_line_of_json_may_hold_the_rows_in_a_list_or_be_a_row(tmp_path):
    row = {"question": "Which?", "options": ["flu", "gout"], "answer": "gout"}
    for name, record in (("list.json", {"version": 1, "data": [row, row]}), ("row.json", row)):
        (tmp_path / name).write_text(json.dumps(record))
        cases = import_table(tmp_path / name, guess_map(tmp_path / name))
        assert {case.questions[0].gold_text for case in cases} == {"gout"}


def test_options_that_cannot_be_read_are_told_with_their_own_column(tmp_path):
    (tmp_path / "t.csv").write_text('question;choices;answer\nWhich?;["flu","gout"];gout\nWhich?;["flu","gout";gout\n')
    cases = import_table(tmp_path / "t.csv", TableMap(question="question", option_list="choices", answer="answer"))
    assert [(problem.line, problem.field) for problem in cases.problems] == [(3, "choices")]


def test_a_table_of_diagnoses_is_told_about_build_table(tmp_path):
    (tmp_path / "s.csv").write_text("PatientID,Diagnosis\nP1,Pneumonia\nP2,Gout\n")
    guessed = wardround("cases", "import", "s.csv", "--guess", cwd=tmp_path)
    assert guessed.returncode == 0
    assert "wardround build table" in guessed.stderr


@pytest.mark.parametrize(
    ("cell", "years"), [("40 J.", 40), ("54 Jahre", 54), ("054Y", 54), ("3 ans", 3), ("14 Tage", 0.04)]
)
def test_ages_are_read_with_the_units_of_four_languages(cell, years):
    assert as_age(cell) == years
