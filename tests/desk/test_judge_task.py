"""Judge validation and error classes on the desk: blind, with kappa for the administrator, and labels as files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from desk_room import Room, read_all
from exam_study import write_cases, write_study
from sklearn.metrics import cohen_kappa_score

from wardround.api import run_study, validate_judge
from wardround.desk.sampling import balanced
from wardround.desk.tasks.judge import against_the_judge
from wardround.marking.judges.judge import read_verdicts
from wardround.measuring.validation.judge_labels import read_labels

MANY = 24


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Room:
    """A desk with a run in it: open questions, the first diagnosis right and the others not, judged by name."""
    room = Room(tmp_path_factory.mktemp("desk"))
    names = [f"{first} {second}" for first in ("acute", "chronic", "familial") for second in "abcd"]
    cases = [
        {"id": f"case-{n}", "questions": [{"id": "open", "kind": "open", "prompt": "What?", "gold": f"{name} fever"}]}
        for n, name in enumerate(names)
    ]
    write_cases(room.root / "cases", cases)
    respondent = {"provider": "simulated", "extra_body": {"hit1": 1.0}}
    study = write_study(room.root, top={"name": "open"}, candidate=respondent, judge={"provider": "lexical"})
    assert run_study(study, runs=room.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    return room


def by_truth(room: Room, task, slips: set[int] = frozenset()):
    """Says what the judge says, but for the slips."""

    def say(number: int, page: str):
        truth = room.desk.work.item(task, number).hidden["same"]
        return {"same": "same" if truth != (number in slips) else "not same", "comment": ""}

    return say


def test_pairs_are_judged_blind_and_the_labels_validate_the_judge(room, tmp_path):
    task = room.make("judge", "runs/open", ["role:attending"])
    items = room.desk.work.items(task)
    judged = read_verdicts(room.root / "runs" / "open").unique(["case", "question", "diagnosis"])
    assert len(items) == len(judged)
    one, other = room.enter("One", "attending"), room.enter("Other", "attending")
    page = one.get(f"/tasks/{task.id}/next").text
    assert "lexical" not in page
    assert not re.search(r"checked", page)
    slips = {items[0].number, items[1].number}
    assert len(read_all(one, task, by_truth(room, task))) == len(items)
    assert len(read_all(other, task, by_truth(room, task, slips))) == len(items)
    shown = room.admin.get(f"/admin/tasks/{task.id}").text
    labels = {item.number: item.hidden["same"] for item in items}
    second = [value != (number in slips) for number, value in labels.items()]
    assert f"{cohen_kappa_score(list(labels.values()), second):.2f}" in shown
    assert "2 open disagreements" in shown
    room.admin.submit(f"/admin/tasks/{task.id}/arbitrate")
    third = room.enter("Third", "attending")
    assert len(read_all(third, task, by_truth(room, task))) == 2
    found = against_the_judge(room.desk, task)
    assert found["items"] == len(items)
    assert found["figures"]["Cohen's kappa"]["value"] == pytest.approx(1.0)
    file = tmp_path / "labels.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    told = validate_judge(room.root / "runs" / "open", file)
    assert (told["items"], told["unmatched"]) == (len(items), [])
    assert told["kappa"]["value"] == pytest.approx(1.0)


def test_kappa_with_the_judge_is_scikit_learns(room):
    task = room.make("judge", "runs/open", ["role:radiologist"], readers="1")
    items = room.desk.work.items(task)
    slips = {item.number for item in items[::5]}
    read_all(room.enter("Rae", "radiologist"), task, by_truth(room, task, slips))
    judge = [item.hidden["same"] for item in items]
    people = [item.hidden["same"] != (item.number in slips) for item in items]
    found = against_the_judge(room.desk, task)["figures"]["Cohen's kappa"]
    assert found["value"] == pytest.approx(cohen_kappa_score(judge, people))
    assert found["low"] < found["value"] < found["high"]


def test_who_cannot_tell_decides_nothing(room):
    task = room.make("judge", "runs/open", ["role:specialist"], readers="1")
    read_all(room.enter("Spe", "specialist"), task, lambda number, page: {"same": "cannot tell", "comment": "?"})
    assert room.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content == b""
    assert against_the_judge(room.desk, task)["items"] == 0


def test_pairs_come_as_a_file_too(room, tmp_path):
    (room.root / "pairs.csv").write_text("gold,diagnosis,accept\nGout,podagra,gouty arthritis|podagra\nGout,Lupus,\n")
    task = room.make("judge", "pairs.csv", ["role:resident"], readers="1")
    page = room.enter("Res", "resident")
    assert "also called gouty arthritis; podagra" in page.get(f"/tasks/{task.id}/items/1").text
    read_all(page, task, lambda number, text: {"same": "same" if number == 1 else "not same", "comment": ""})
    file = tmp_path / "labels.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    assert [(each.gold, each.diagnosis, each.same) for each in read_labels(file)] == [
        ("gout", "podagra", True),
        ("gout", "lupus", False),
    ]


@pytest.mark.parametrize("text", ["gold\nx\n", "not json", "[1]\n", '{"gold": "x"}\n'])
def test_bad_pairs_are_one_line(room, text):
    name = "bad.csv" if text.startswith("gold") else "bad.jsonl"
    (room.root / name).write_text(text)
    answer = room.admin.submit("/admin/tasks/new", {"kind": "judge", "project": "P", "name": "N", "source": name})
    assert answer.status_code == 422
    assert name in re.findall(r'role="alert">(.*?)</p>', answer.text)[0]


def test_a_balanced_draw_stands_for_the_whole():
    rows = [("yes", n) for n in range(90)] + [("no", n) for n in range(10)]
    drawn = balanced(rows, lambda row: row[0], 40, 0)
    kinds = [row[0] for row, _ in drawn]
    assert (kinds.count("yes"), kinds.count("no")) == (30, 10)
    assert sum(weight for row, weight in drawn if row[0] == "yes") == pytest.approx(90)
    assert sum(weight for _, weight in drawn) == pytest.approx(100)
    assert drawn == balanced(rows, lambda row: row[0], 40, 0)
    assert drawn != balanced(rows, lambda row: row[0], 40, 1)
    assert balanced(rows, lambda row: row[0], 0, 0) == [(row, 1.0) for row in rows]


@pytest.fixture(scope="module")
def reasoned(tmp_path_factory) -> Room:
    """A desk with a run whose candidate is always wrong and reasons about it."""
    from exam_server import ExamServer

    room = Room(tmp_path_factory.mktemp("desk"))
    write_cases(room.root / "cases", MANY)
    with ExamServer() as server:
        study = write_study(room.root, server.url)
        assert run_study(study, runs=room.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    return room


def test_error_classes_are_named_blind_to_the_candidate(reasoned, monkeypatch, tmp_path):
    from wardround.desk.tasks import errors
    from wardround.measuring.validation.error_validation import read_error_labels

    room = reasoned
    monkeypatch.setattr(errors, "reasoning_of", lambda answer, question: f"Because of {answer.text}, I think so.")
    task = room.make("errors", "runs/exam", ["role:attending"], many="0")
    items = room.desk.work.items(task)
    assert items
    one, other = room.enter("One", "attending"), room.enter("Other", "attending")
    page = one.get(f"/tasks/{task.id}/next").text
    assert "server" not in page
    assert "Because of" in page
    kinds = list(errors.CLASSES)

    def say(shift: int):
        return lambda number, page: {"class": kinds[(number + (shift if number % 4 == 0 else 0)) % 5], "comment": ""}

    read_all(one, task, say(0))
    read_all(other, task, say(1))
    first = [kinds[item.number % 5] for item in items]
    second = [kinds[(item.number + (item.number % 4 == 0)) % 5] for item in items]
    shown = room.admin.get(f"/admin/tasks/{task.id}").text
    assert f"{cohen_kappa_score(first, second):.2f}" in shown
    file = tmp_path / "labels.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    labels = read_error_labels(file)
    assert len(labels) == sum(np.array(first) == np.array(second))
    assert {label.candidate for label in labels} == {"server"}
    assert all(json.loads(line)["class"] in kinds for line in file.read_text().splitlines())
