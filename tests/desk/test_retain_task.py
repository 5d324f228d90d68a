"""Retain or discard on the desk: three readers, eight reasons, the blind run only after the decision."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from desk_room import Room, case, once, read_all, write_set

from wardround.building.reviewing import review
from wardround.cases.set import CaseSet
from wardround.desk.decisions import decisions, summary
from wardround.desk.tasks.retain import REASONS

TYPES = ("gaussian_blur", "reduce_contrast")
CLEAN = json.dumps({"images": "as-is"})
BLIND = json.dumps({"images": "blank"})


def degraded(number: int) -> dict:
    told = case(number, images=[{"path": f"images/{number}.png", "modality": "X-ray"}])
    clean = told["questions"][0]
    told["questions"] += [
        clean | {"id": f"mcq-{type}-{level}", "of": "mcq", "degradations": [f"{type}@{level}"]}
        for type in TYPES
        for level in ("L1", "L2")
    ]
    return told


@pytest.fixture
def room(tmp_path) -> Room:
    room = Room(tmp_path)
    write_set(room.root / "set", [degraded(number) for number in range(6)])
    (room.root / "blind").mkdir()
    rows = [
        {"case": f"c{number}", "question": "mcq", "condition": condition, "outcome": outcome}
        for number in range(6)
        for condition, outcome in ((CLEAN, "right"), (BLIND, "right" if number < 2 else "wrong"), (BLIND, "wrong"))
    ]
    pl.DataFrame(rows).write_parquet(room.root / "blind" / "marks.parquet")
    return room


def decided(decision: str, *reasons: str, **more):
    return {"decision": decision, "reason": list(reasons), "comment": "", **more}


def kept(number, page):
    return decided("retain", **({"after_blind": "yes"} if "after_blind" in page else {}))


def test_one_item_for_each_question_and_type_with_all_its_levels(room):
    task = room.make("retain", "set", ["role:radiologist"])
    items = room.desk.work.items(task)
    assert len(items) == 12
    reader = room.enter("Rae", "radiologist")
    orders = set()
    for item in items:
        page = reader.get(f"/tasks/{task.id}/items/{item.number}").text
        captions = re.findall(r"<figcaption><span>(L\d)</span>", page)
        assert sorted(captions) == ["L0", "L1", "L2"]
        orders.add(tuple(captions))
    assert len(orders) > 2
    shown = [reader.get(f"/images/{each.id}") for each in room.desk.pictures.of(items[0])]
    assert [each.status_code for each in shown] == [200] * 3
    assert len({each.content for each in shown}) == 3
    other = room.enter("Stu", "student")
    assert other.get(f"/tasks/{task.id}").status_code == 404


def test_three_readers_decide_by_majority_and_the_rule_is_told(room, tmp_path):
    task = room.make("retain", "set", ["role:radiologist"])
    items = room.desk.work.items(task)
    bad, disputed = items[0].number, items[1].number

    def says(voices: set[int]):
        return lambda number, page: decided("discard", "destroyed", "type") if number in voices else decided("retain")

    for name, voices in (("R1", {bad, disputed}), ("R2", {bad}), ("R3", set())):
        assert {each.decision for each in decisions(room.desk, task)} == {"open"}
        assert len(read_all(room.enter(name, "radiologist"), task, says(voices))) == 12
    late = room.enter("R4", "radiologist")
    assert not read_all(late, task, says(set()))
    found = {each.item.number: each for each in decisions(room.desk, task)}
    assert [number for number, each in found.items() if each.decision == "discard"] == [bad]
    assert (found[bad].votes, found[bad].readers, found[bad].reasons) == (2, 3, {"destroyed": 2, "type": 2})
    told = json.loads(room.admin.get(f"/admin/tasks/{task.id}/export/summary.json").content)
    assert (told["rate"]["decided"], told["rate"]["discarded"]) == (24, 2)
    assert told["rate"]["value"] == pytest.approx(1 / 12)
    assert told["rate"]["low"] < 1 / 12 < told["rate"]["high"]
    assert told["paper"]["value"] == 0.083
    assert "more than half" in told["rule"]
    page = room.admin.get(f"/admin/tasks/{task.id}").text
    assert "The paper: about 8.3%" in page
    assert "Krippendorff" in page
    lines = room.admin.get(f"/admin/tasks/{task.id}/export/decisions.jsonl").text.splitlines()
    assert len(lines) == 24
    assert all("more than half" in json.loads(line)["rule"] for line in lines)
    file = tmp_path / "given.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(room.root / "set", [file], tmp_path / "new", share=0)
    left = [question.id for each in CaseSet.open(tmp_path / "new") for question in each.questions]
    assert len(left) == 6 * 5 - 2


def test_any_voice_discards_where_that_is_the_rule(room):
    task = room.make("retain", "set", ["role:radiologist"], rule="any", readers="2")
    first = room.desk.work.items(task)[0].number
    read_all(
        room.enter("R1", "radiologist"),
        task,
        lambda n, page: decided("discard", "unchanged") if n == first else decided("retain"),
    )
    read_all(room.enter("R2", "radiologist"), task, kept)
    assert [each.decision for each in decisions(room.desk, task)].count("discard") == 1
    assert "any of its readers" in summary(room.desk, task)["rule"]


def test_the_blind_run_is_shown_only_after_the_decision(room):
    task = room.make("retain", "set", ["role:radiologist"], blind="blind", readers="1")
    reader = room.enter("Rae", "radiologist")
    number = next(item.number for item in room.desk.work.items(task) if item.name.startswith("c1/"))
    path = f"/tasks/{task.id}/items/{number}"
    page = reader.get(path).text
    assert "blind run" not in page
    assert REASONS["answerable"] not in page
    early = reader.submit(path, {"once": once(page), **decided("discard", "answerable")})
    assert (early.status_code, "Decide first" in early.text) == (422, True)
    feigned = reader.submit(path, {"once": once(page), **decided("discard", "answerable", after_blind="yes")})
    assert (feigned.status_code, "Decide first" in feigned.text) == (422, True)
    assert not room.desk.work.verdicts(task)
    after = reader.submit(path, {"once": once(page), **decided("retain")})
    assert str(after.url).endswith(path)
    assert "1 of 2" in after.text
    assert REASONS["answerable"] in after.text
    assert str(reader.get(f"/tasks/{task.id}/next").url).endswith(path)  # also if the browser was closed here
    changed = reader.submit(path, {"once": once(after.text), **decided("discard", "answerable", after_blind="yes")})
    assert not str(changed.url).endswith(path)
    (found,) = [each for each in decisions(room.desk, task) if each.item.number == number]
    assert (found.decision, found.reasons) == ("discard", {"answerable": 1})
    first, last = room.desk.work.verdicts(task, number)
    assert (first.said["decision"], last.said["decision"]) == ("retain", "discard")


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"decision": ""}, "Choose retain or discard"),
        ({"decision": "discard"}, "Say why"),
        ({"decision": "retain", "reason": ["type"]}, "has no reason"),
        ({"decision": "discard", "reason": ["ugly"]}, "one of the eight"),
    ],
)
def test_what_cannot_be_said(room, form, told):
    task = room.make("retain", "set", ["role:radiologist"])
    reader = room.enter("Rae", "radiologist")
    page = reader.get(f"/tasks/{task.id}/items/1").text
    sent = reader.submit(f"/tasks/{task.id}/items/1", {"once": once(page), "comment": "", **form})
    assert (sent.status_code, told in sent.text) == (422, True)


@pytest.mark.parametrize(
    ("source", "blind", "told"),
    [
        ("plain", "", "no question in it is degraded"),
        ("set", "plain", "no run with marks"),
        ("set", "seen", "shows the"),
    ],
)
def test_sources_that_are_none_are_told_in_a_line(room, source, blind, told):
    write_set(room.root / "plain", [case(1)])
    (room.root / "seen").mkdir()
    seen = [{"case": "c1", "question": "mcq", "condition": CLEAN, "outcome": "right"}]
    pl.DataFrame(seen).write_parquet(room.root / "seen" / "marks.parquet")
    form = {"kind": "retain", "project": "P", "name": "N", "source": source, "blind": blind}
    answer = room.admin.submit("/admin/tasks/new", form)
    assert (answer.status_code, told in answer.text) == (422, True)
