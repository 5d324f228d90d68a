"""Refused answers: marked as such, read by nothing, judged by nobody, and shown with their rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, write_cases, write_study
from judged_study import compare_letters, list_diagnoses, marks_of, patient, run, write_judged_study

from wardround.api import load_run
from wardround.core.ask import REFUSALS, Answer
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.marking.leakage import probe_mark
from wardround.marking.marks import mark_answer
from wardround.marking.parser.choice import parser_version
from wardround.marking.reader import AnswerReader
from wardround.reporting import compare, read_run
from wardround.reporting.tables.measured import ColumnSpec, measured_table

CHOICE = Case.model_validate(case(0)).questions[0]
OPEN = CHOICE.model_copy(update={"kind": "open", "options": None, "gold": "Gout"})
ORDER = (0, 1, 2, 3)
FILTERED = {"message": {"role": "assistant", "content": "1. Gout"}, "finish_reason": "content_filter"}


def refuse_patients(*numbers: int, answering: Any = list_diagnoses) -> Any:
    """A server whose filter stops its answers about these patients."""
    return lambda body, index: FILTERED if patient(body) in numbers else answering(body, index)


@pytest.mark.parametrize(("finish", "reason"), REFUSALS.items())
@pytest.mark.parametrize("confidence", ["none", "verbal", "votes", "logprobs"])
def test_a_refused_answer_is_marked_so_whatever_it_says(finish: str, reason: str, confidence: str) -> None:
    answer = Answer(text="B", finish=finish, first_token=(("B", 0.0),))
    mark = mark_answer(answer, CHOICE, ORDER, Condition(confidence=confidence))
    assert mark is not None
    assert (mark["outcome"], mark["rule"], mark["option"], mark["place"]) == ("refused", reason, None, None)
    assert (mark["gold"], mark["k"], mark["parser"]) == (0, 4, parser_version())
    assert mark.get("shares") is mark.get("confidence") is None


def test_a_declined_open_answer_has_no_verdict() -> None:
    mark = mark_answer(Answer(text="Gout", refusal="I cannot help."), OPEN, (), Condition())
    assert mark is not None
    assert (mark["outcome"], mark["rule"], mark.get("hits"), mark.get("judge")) == ("refused", "declined", None, None)


def test_nothing_is_read_from_a_refused_answer() -> None:
    reader, refused = AnswerReader(), Answer(text="B", finish="content_filter")
    assert reader.text(refused, CHOICE, ORDER) is None
    assert reader.text(Answer(text="B"), CHOICE, ORDER) == CHOICE.choices[1]
    assert reader.text(Answer(text="1. Gout", finish="too_long"), OPEN, ()) is None


class NoProbes:
    """A refused probe is not compared with any text."""

    def text_kind(self, *asked: object) -> str:
        raise AssertionError

    text = text_kind


@pytest.mark.parametrize("probe", ["rationale", "reference"])
def test_a_refused_probe_has_no_mark(probe: str) -> None:
    refused, condition = Answer(text="", finish="content_filter"), Condition(probe=probe)
    assert probe_mark(refused, Case.model_validate(case(0)), CHOICE, condition, NoProbes()) is None  # type: ignore[arg-type]


def test_no_judge_is_asked_about_a_refused_answer(tmp_path: Path) -> None:
    with ExamServer(refuse_patients(*range(8))) as candidate, ExamServer(compare_letters) as judge:
        ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    marks = marks_of(ended)
    assert (judge.calls, ended.exit_code) == (0, 0)
    assert set(zip(marks["outcome"], marks["rule"], strict=True)) == {("refused", "content filter")}
    assert marks["hits"].is_null().all()


@pytest.mark.parametrize(("refusals", "accuracy"), [("wrong", 6 / 8), ("left out", 1.0)])
def test_a_run_shows_the_rate_and_the_rule(tmp_path: Path, refusals: str, accuracy: float) -> None:
    """Patients 1 and 3 of 8 are refused, all others answered right."""
    write_cases(tmp_path / "cases", 8)
    right = refuse_patients(1, 3, answering=lambda body, index: "ABCD"[patient(body) % 4])
    with ExamServer(right) as server:
        ended = run(write_study(tmp_path, server.url, top={"refusals": refusals}))
    measures = pl.read_csv(ended.folder / "measures.csv").filter(slice="{}")
    line = measures.row(by_predicate=pl.col("measure") == "accuracy", named=True)
    assert (line["value"], line["refused"], line["unparsed"]) == (accuracy, 2 / 8, 0.0)
    assert ended.manifest["candidates"][0]["refused"] == 2
    assert len(load_run(ended.folder).answers(outcome="refused")) == 2
    with pytest.raises(WardroundError, match="there is no outcome 'refusedd'; outcomes are right, wrong"):
        load_run(ended.folder).answers(outcome="refusedd")
    rule = {"wrong": "counted as not right", "left out": "left out of every score"}[refusals]
    note = f"Refused and {rule}: 2 content filter."
    page = (ended.folder / "report.html").read_text(encoding="utf-8")
    assert note in page
    assert "refused 25.0" in page
    other = compare([ended.folder, ended.folder], tmp_path / "both.html").read_text(encoding="utf-8")
    assert note in other
    assert "refused 25.0" in other
    table, columns = measured_table(read_run(ended.folder), "made", ("candidate",), [ColumnSpec("a", "accuracy")])
    assert [column.heading for column in columns] == ["a", "Unparsed", "Refused"]
    assert [cell.value for cell in table.rows[0].cells] == [accuracy, 0.0, 0.25]
    assert table.rows[0].cells[0].refused == 0.25
    assert note in table.notes


def test_without_refusals_there_is_neither_column_nor_note(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 8)
    with ExamServer() as server:
        ended = run(write_study(tmp_path, server.url))
    _, columns = measured_table(read_run(ended.folder), "made", ("candidate",), [ColumnSpec("a", "accuracy")])
    assert columns[-1].heading == "Unparsed"
    assert "Refused and" not in (ended.folder / "report.html").read_text(encoding="utf-8")


def test_measures_of_an_earlier_run_are_read(tmp_path: Path) -> None:
    """measures.csv without `refused`, and with lines that differ only in `version`."""
    write_cases(tmp_path / "cases", 8)
    with ExamServer() as server:
        ended = run(write_study(tmp_path, server.url))
    file = ended.folder / "measures.csv"
    old = pl.read_csv(file).drop("refused")
    file.write_text(pl.concat([old, old.with_columns(version=pl.lit("inf"))]).write_csv(), encoding="utf-8")
    earlier = read_run(ended.folder)
    line = earlier.find_line("accuracy", "server", {})
    assert line is not None
    assert (line.refused, line.version) == (None, parser_version())
    assert not earlier.has_refusals
    assert compare([ended.folder, ended.folder], tmp_path / "both.html").is_file()


def test_a_refused_question_for_log_probabilities_is_not_bought_again_as_votes(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 4)
    top = [(letter, -1.3862943611198906) for letter in "ABCD"]
    answering = refuse_patients(0, answering=lambda body, index: "A")
    with ExamServer(answering, first_token=lambda body: top) as server:
        study = write_study(tmp_path, server.url, top={"trials": 5}, conditions={"confidence": "logprobs"})
        ended = run(study)
    assert all(body.get("logprobs") for body in server.bodies), "no votes were asked for"
    marks = marks_of(ended)
    assert marks["outcome"].to_list().count("refused") == 1
    lines = {line["measure"]: line for line in pl.read_csv(ended.folder / "measures.csv").filter(slice="{}").to_dicts()}
    assert (lines["refused"]["value"], lines["accuracy"]["value"]) == (0.25, pytest.approx(3 / 4 / 4, abs=1e-6))


def test_the_case_pages_count_refused_answers(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 2)
    with ExamServer(refuse_patients(1, answering=lambda body, index: "A")) as server:
        ended = run(write_study(tmp_path, server.url))
    from wardround.pipeline import report_runs

    report_runs([ended.folder], with_cases=True)
    page = next(ended.folder.rglob("index.html"), None) or next(ended.folder.glob("*cases*/*.html"))
    data = json.loads(page.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0])
    assert sorted(ask[2] for asks in data["cases"] for ask in asks) == [[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]
