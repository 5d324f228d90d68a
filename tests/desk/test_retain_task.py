"""Retain or discard on the desk: three readers, eight reasons, the blind run only after the decision."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from desk_room import Room, case, once, read_all, write_set

from wardround.building.review import review
from wardround.cases.set import CaseSet
from wardround.desk.results.decisions import decisions, summary
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


def new_set(room, task, folder) -> dict[str, list[str]]:
    """What `wardround build review` leaves of the set."""
    file = folder / "given.jsonl"
    file.write_bytes(room.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(room.root / "set", [file], folder / "new", share=0)
    return {each.id: [question.id for question in each.questions] for each in CaseSet.open(folder / "new")}


@pytest.mark.parametrize("rule", ["majority", "any"])
def test_what_is_wrong_with_the_question_itself_takes_the_clean_one_out_too(room, tmp_path, rule):
    extra = {"id": "two", "kind": "open", "prompt": "And why?", "gold": "urate", "given": ["mcq"]}
    other = {"id": "own", "kind": "open", "prompt": "How old?", "gold": "90"}
    cases = [degraded(number) for number in range(6)]
    cases[0]["questions"] += [extra, other]
    write_set(room.root / "set", cases)
    task = room.make("retain", "set", ["role:radiologist"], rule=rule)
    numbers = {item.name: item.number for item in room.desk.work.items(task)}
    voices = {
        "c0/mcq/gaussian_blur": (["baseline"], ["answerable", "type"], None),  # two of three: the question itself
        "c1/mcq/gaussian_blur": (["modality"], ["modality"], ["baseline"]),
        "c2/mcq/gaussian_blur": (["baseline"], ["destroyed"], ["type"]),  # of three only one means the question itself
        "c3/mcq/reduce_contrast": (["answerable"], None, None),
        "c4/mcq/reduce_contrast": (["severity"], ["unchanged"], ["irrelevant"]),
    }
    said = {numbers[name]: told for name, told in voices.items()}
    for place in range(3):

        def says(number, page, place=place):
            reasons = said.get(number, (None,) * 3)[place]
            return decided("discard", *reasons) if reasons else decided("retain")

        read_all(room.enter(f"R{place}", "radiologist"), task, says)
    found = {each.item.name: each for each in decisions(room.desk, task)}
    whole = {"c0", "c1"} if rule == "majority" else {"c0", "c1", "c2", "c3"}
    assert {name[:2] for name, each in found.items() if each.clean == "discard"} == whole
    assert (
        found["c0/mcq/reduce_contrast"].decision == "discard"
    )  # nobody spoke against it, but its clean question is out
    assert found["c0/mcq/reduce_contrast"].votes == 0
    told = summary(room.desk, task)
    assert told["clean"] == {"questions": 6, "discarded": len(whole), "open": 0}
    assert told["rate"]["discarded"] == 4 * len(whole) + (4 if rule == "majority" else 2)
    left = new_set(room, task, tmp_path)
    assert left["c0"] == ["own"]  # what follows the clean question goes with it
    assert "c1" not in left  # nothing is left of it
    assert ("c2" in left, "c3" in left) == ((True, True) if rule == "majority" else (False, False))
    assert left["c4"] == ["mcq", "mcq-gaussian_blur-L1", "mcq-gaussian_blur-L2"]
    assert len(left["c5"]) == 5
    lines = room.admin.get(f"/admin/tasks/{task.id}/export/decisions.jsonl").text.splitlines()
    out = {line["case"] for line in map(json.loads, lines) if line["clean"] == "discard"}
    assert out == whole
    assert "the clean question is out too" in told["rule"]
    assert f"Clean questions out with them: {len(whole)} of 6" in room.admin.get(f"/admin/tasks/{task.id}").text


def test_a_clean_question_is_open_until_all_that_is_made_of_it_is_read(room):
    task = room.make("retain", "set", ["role:radiologist"], readers="1")
    reader = room.enter("Rae", "radiologist")
    page = reader.get(f"/tasks/{task.id}/items/1")
    reader.submit(str(page.url), {"once": once(page.text), **decided("discard", "destroyed")})
    first, second = decisions(room.desk, task)[:2]
    assert (first.decision, first.clean) == ("discard", "open")
    assert (second.decision, second.clean) == ("open", "open")
    page = reader.get(f"/tasks/{task.id}/items/2")
    reader.submit(str(page.url), {"once": once(page.text), **decided("retain")})
    assert {each.clean for each in decisions(room.desk, task)[:2]} == {"retain"}


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
