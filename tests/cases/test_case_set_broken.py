"""Every broken line is named with file, line and field, and the rest of the set still loads."""

from __future__ import annotations

import pytest
from case_lines import case, choice

from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, Problem

GOOD = "images/good.png"

BROKEN = {
    "bad JSON": (b"{broken", None, "is not JSON: key must be a string at column 2"),
    "cut line": (b'{"id": "c1", "questions": [', None, "is not JSON: EOF while parsing a list"),
    "no object": (b"[1]", None, "input should be an object"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', None, "is not JSON: invalid unicode"),
    "not a number": (b'{"id": "c1", "weight": NaN}', None, "is not JSON: expected value at column 2"),
    "no id": ({"questions": [choice()]}, "id", "is required"),
    "empty id": (case(""), "id", "string should have at least 1 character"),
    "id of wrong type": (case(7), "id", "input should be a valid string, not 7"),
    "duplicate id": (case("twice"), "id", "'twice' is there twice, first in line 1"),
    "no questions": (case(questions=[]), "questions", "list should have at least 1 item"),
    "no prompt": (
        case(questions=[{"id": "q", "kind": "open", "gold": "x"}]),
        "questions[0].prompt",
        "is required",
    ),
    "no gold": (case(questions=[{"id": "q", "kind": "open", "prompt": "x"}]), "questions[0]", "gold is required"),
    "unknown kind": (
        case(questions=[choice(kind="essay")]),
        "questions[0].kind",
        "input should be 'choice', 'open' or 'rubric'",
    ),
    "gold out of range": (case(questions=[choice(gold=3)]), "questions[0]", "gold is 3, but there are options 0 to 2"),
    "gold is a letter": (
        case(questions=[choice(gold="B")]),
        "questions[0]",
        "gold of a choice is the option's index (a number), not 'B'",
    ),
    "gold of no type": (
        case(questions=[choice(gold=True)]),
        "questions[0].gold",
        "should be a whole number or text, not True",
    ),
    "one option": (case(questions=[choice(options=["only"])]), "questions[0]", "a choice needs at least two options"),
    "empty option": (case(questions=[choice(options=["a", " ", "c"])]), "questions[0]", "option B is empty"),
    "second question": (case(questions=[choice(), choice(id="x", grade="Q")]), "questions[1].grade", "input should be"),
    "same question twice": (case(questions=[choice(), choice()]), "", "question id 'mcq' is used twice"),
    "open gold a number": (
        case(questions=[{"id": "q", "kind": "open", "prompt": "x", "gold": 4}]),
        "questions[0]",
        "gold of an open question is the diagnosis as text",
    ),
    "stage that is not there": (case(questions=[choice(given=["iqa"])]), "", "names question 'iqa'"),
    "age of wrong type": (case(patient={"age": "54"}), "patient.age", "should be a number, not '54'"),
    "age out of range": (case(patient={"age": 200}), "patient.age", "input should be less than or equal to 130"),
    "history of wrong type": (case(history=["a"]), "history", "input should be a valid string"),
    "telling's image": (case(tellings={"text": {"images": [0]}}), "", "telling 'text' names image 0; there are 0"),
    "question's image": (
        case(images=[{"path": GOOD}], questions=[choice(images=[1])]),
        "",
        "question 'mcq' names image 1; there are 1",
    ),
    "missing image": (
        case(images=[{"path": GOOD}, {"path": "no.png"}]),
        "images[1].path",
        "'no.png': there is no such",
    ),
    "image is a folder": (case(images=[{"path": "images"}]), "images[0].path", "'images': there is no such file"),
    "image above the folder": (case(images=[{"path": "../x.png"}]), "images[0].path", "'../x.png' leads out"),
    "image at the root": (case(images=[{"path": "/etc/hosts"}]), "images[0].path", "'/etc/hosts' leads out"),
    "image without path": (case(images=[{"modality": "CT"}]), "images[0].path", "is required"),
    "half a window": (case(images=[{"path": GOOD, "window": [40]}]), "images[0].window[1]", "is required"),
    "window without width": (case(images=[{"path": GOOD, "window": [40, 0]}]), "images[0].window", "the width is 0.0"),
    "axis of no volume": (case(images=[{"path": GOOD, "axis": 3}]), "images[0].axis", "less than or equal to 2"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_is_named_and_left_out(written, broken):
    line, field, message = BROKEN[broken]
    folder = written(case("twice"), line, case("last"))
    cases = CaseSet.open(folder)
    assert [case.id for case in cases] == ["twice", "last"]
    (problem,) = cases.problems
    assert (problem.file, problem.line) == (folder / "cases.jsonl", 2)
    assert (problem.field or "") == (field or "")
    assert message in problem.message
    line = str(problem)
    assert line.startswith(f"{folder / 'cases.jsonl'}:2: " + (f"{field}: " if field else ""))
    assert "\n" not in line
    with pytest.raises(BadInput) as strictly:
        CaseSet.open(folder, strict=True)
    assert strictly.value.problem == problem


def test_every_problem_of_a_line_is_listed(written):
    folder = written(case("a"), case(5, history=6, images=[{"path": ""}]))
    assert [problem.field for problem in CaseSet.open(folder).problems] == ["id", "history", "images[0].path"]


def test_a_set_without_a_usable_case_is_refused(written, tmp_path):
    folder = written(b"{", case(questions=[]))
    with pytest.raises(BadInput, match=r"cases\.jsonl:1: is not JSON.*no other case can be used"):
        CaseSet.open(folder)
    assert len(CaseSet.read(folder).problems) == 2
    with pytest.raises(BadInput, match=r"cases\.jsonl: contains no case"):
        CaseSet.open(written(b"", b"   "))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"cases\.jsonl: there is no such file; a case set is a folder"):
        CaseSet.open(tmp_path / "empty")
    with pytest.raises(BadInput, match="there is no such case set"):
        CaseSet.open(tmp_path / "nowhere")


def test_a_problem_is_a_record(written):
    folder = written(case("a"), case("a"))
    assert CaseSet.open(folder).problems == [
        Problem(folder / "cases.jsonl", 2, "id", "'a' is there twice, first in line 1")
    ]
