"""Replies that could not be read: their shapes, and the warning of a run that could not read most of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exam_server import ExamServer, text_of
from exam_study import wardround, write_cases, write_study

from wardround.core.ask import Answer
from wardround.marking.unread import commonest_shape, shape_of


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (Answer(""), "empty"),
        (Answer("  \n"), "empty"),
        (Answer("The patient", finish="length"), "cut by length"),
        (Answer("<think>Let me see"), "cut by length"),
        (Answer("<unused94>thought\nLet me see"), "cut by length"),
        (Answer("<|channel|>analysis<|message|>Let me see"), "cut by length"),
        (Answer('{"answer": "?"}'), "JSON"),
        (Answer('```json\n{"a": 1}\n```'), "JSON"),
        (Answer("I'm sorry, but I can't help with that."), "a refusal in words"),
        (Answer("As an AI, I do not diagnose."), "a refusal in words"),
        (Answer("I cannot view images."), "says that it sees no image"),
        (Answer("I don't see any attached image."), "says that it sees no image"),
        (Answer("There is no image provided with your question."), "says that it sees no image"),
        (Answer("I do not see a fracture in the image."), "starts with 'I do not'"),
        (Answer("The image is not typical."), "starts with 'The image is'"),
        (Answer("Hard to say."), "starts with 'Hard to say.'"),
    ],
)
def test_an_unread_reply_has_a_shape(answer: Answer, shape: str) -> None:
    assert shape_of(answer) == shape


def test_the_commonest_shape_has_its_count_an_example_and_advice() -> None:
    shape = commonest_shape([Answer("{}"), Answer("Cut", finish="length"), Answer("Cut again", finish="length")])

    assert str(shape) == "cut by length (2, such as 'Cut'); give a larger `max_tokens`, or none"


@pytest.mark.parametrize(("unread", "warned"), [(6, True), (5, False)])
def test_a_run_that_reads_less_than_half_ends_with_a_warning(tmp_path: Path, unread: int, warned: bool) -> None:
    write_cases(tmp_path / "cases", 10)

    def answer(body, index: int) -> str:
        patient = int(text_of(body).partition("What does patient ")[2].partition(" ")[0])
        return "I'm sorry, but I can't help with that." if patient < unread else "A"

    with ExamServer(answer) as server:
        study = write_study(tmp_path, server.url)
        ended = wardround("run", study, cwd=tmp_path)
    folder = tmp_path / "runs" / "exam"
    warnings = json.loads((folder / "manifest.json").read_text())["warnings"]

    words = "6 of 10 choice answers could not be read; the commonest shape: a refusal in words (6, such as"
    assert ended.returncode == 0
    assert [words in line for line in warnings] == ([True] if warned else [])
    assert (words in ended.stderr, "a refusal in words" in (folder / "report.html").read_text()) == (warned, warned)


def test_marking_again_does_not_repeat_the_warning(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 4)
    with ExamServer(lambda body, index: "") as server:
        wardround("run", write_study(tmp_path, server.url), cwd=tmp_path)
    manifest = tmp_path / "runs" / "exam" / "manifest.json"
    assert len(json.loads(manifest.read_text())["warnings"]) == 1

    wardround("mark", "runs/exam", cwd=tmp_path)

    assert len(json.loads(manifest.read_text())["warnings"]) == 1
