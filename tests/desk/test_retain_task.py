"""Retain or discard on the desk: three readers, eight reasons, the blind run only after the decision."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from desk_site import DeskSite, case, once, read_all, write_set

from wardround.building.review.review import review
from wardround.cases.set import CaseSet
from wardround.desk.results.decisions import decide_items, decision_summary
from wardround.desk.tasks.retain import REASONS

TYPES = ("gaussian_noise", "reduce_contrast")  # a blur leaves the even ramp of the images as it is
CLEAN = json.dumps({"images": "as-is"})
BLIND = json.dumps({"images": "blank"})


def degraded(number: int) -> dict:
    record = case(number, images=[{"path": f"images/{number}.png", "modality": "X-ray"}])
    clean = record["questions"][0]
    record["questions"] += [
        clean | {"id": f"mcq-{type}-{level}", "of": "mcq", "degradations": [f"{type}@{level}"]}
        for type in TYPES
        for level in ("L1", "L2")
    ]
    return record


@pytest.fixture
def site(tmp_path) -> DeskSite:
    site = DeskSite(tmp_path)
    write_set(site.root / "set", [degraded(number) for number in range(6)])
    (site.root / "blind").mkdir()
    rows = [
        {"case": f"c{number}", "question": "mcq", "condition": condition, "outcome": outcome}
        for number in range(6)
        for condition, outcome in ((CLEAN, "right"), (BLIND, "right" if number < 2 else "wrong"), (BLIND, "wrong"))
    ]
    pl.DataFrame(rows).write_parquet(site.root / "blind" / "marks.parquet")
    return site


def decided(decision: str, *reasons: str, **more):
    return {"decision": decision, "reason": list(reasons), "comment": "", **more}


def kept(number, page):
    return decided("retain", **({"after_blind": "yes"} if "after_blind" in page else {}))


def test_one_item_for_each_question_and_type_with_all_its_levels(site):
    task = site.make_task("retain", "set", ["role:radiologist"])
    items = site.desk.tasks.list_items(task)
    assert len(items) == 12
    reader = site.add_person("Rae", "radiologist")
    orders = set()
    for item in items:
        page = reader.get(f"/tasks/{task.id}/items/{item.number}").text
        captions = re.findall(r"<figcaption><span>(L\d)</span>", page)
        assert sorted(captions) == ["L0", "L1", "L2"]
        orders.add(tuple(captions))
    assert len(orders) > 2
    shown = [reader.get(f"/images/{picture.id}") for picture in site.desk.pictures.of_item(items[0])]
    assert [picture.status_code for picture in shown] == [200] * 3
    assert len({picture.content for picture in shown}) == 3
    other = site.add_person("Stu", "student")
    assert other.get(f"/tasks/{task.id}").status_code == 404


def test_three_readers_decide_by_majority_and_the_rule_is_told(site, tmp_path):
    task = site.make_task("retain", "set", ["role:radiologist"])
    items = site.desk.tasks.list_items(task)
    bad, disputed = items[0].number, items[1].number

    def says(voices: set[int]):
        return lambda number, page: decided("discard", "destroyed", "type") if number in voices else decided("retain")

    for name, voices in (("R1", {bad, disputed}), ("R2", {bad}), ("R3", set())):
        assert {decision.decision for decision in decide_items(site.desk, task)} == {"open"}
        assert len(read_all(site.add_person(name, "radiologist"), task, says(voices))) == 12
    late = site.add_person("R4", "radiologist")
    assert not read_all(late, task, says(set()))
    decisions = {decision.item.number: decision for decision in decide_items(site.desk, task)}
    assert [number for number, decision in decisions.items() if decision.decision == "discard"] == [bad]
    assert (decisions[bad].votes, decisions[bad].readers, decisions[bad].reasons) == (2, 3, {"destroyed": 2, "type": 2})
    summary = json.loads(site.admin.get(f"/admin/tasks/{task.id}/export/summary.json").content)
    assert (summary["rate"]["decided"], summary["rate"]["discarded"]) == (24, 2)
    assert summary["rate"]["value"] == pytest.approx(1 / 12)
    assert summary["rate"]["low"] < 1 / 12 < summary["rate"]["high"]
    assert summary["paper"]["value"] == 0.083
    assert "more than half" in summary["rule"]
    page = site.admin.get(f"/admin/tasks/{task.id}").text
    assert "The paper: about 8.3%" in page
    assert "Krippendorff" in page
    lines = site.admin.get(f"/admin/tasks/{task.id}/export/decisions.jsonl").text.splitlines()
    assert len(lines) == 24
    assert all("more than half" in json.loads(line)["rule"] for line in lines)
    file = tmp_path / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(site.root / "set", [file], tmp_path / "new", share=0)
    left = [question.id for case_record in CaseSet.open(tmp_path / "new") for question in case_record.questions]
    assert len(left) == 6 * 5 - 2


def new_set(site, task, folder) -> dict[str, list[str]]:
    """What `wardround build review` leaves of the set."""
    file = folder / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(site.root / "set", [file], folder / "new", share=0)
    return {
        case_record.id: [question.id for question in case_record.questions]
        for case_record in CaseSet.open(folder / "new")
    }


@pytest.mark.parametrize("rule", ["majority", "any"])
def test_what_is_wrong_with_the_question_itself_takes_the_clean_one_out_too(site, tmp_path, rule):
    extra = {"id": "two", "kind": "open", "prompt": "And why?", "gold": "urate", "given": ["mcq"]}
    other = {"id": "own", "kind": "open", "prompt": "How old?", "gold": "90"}
    cases = [degraded(number) for number in range(6)]
    cases[0]["questions"] += [extra, other]
    write_set(site.root / "set", cases)
    task = site.make_task("retain", "set", ["role:radiologist"], rule=rule)
    numbers = {item.name: item.number for item in site.desk.tasks.list_items(task)}
    voices = {
        "c0/mcq/gaussian_noise": (["baseline"], ["answerable", "type"], None),  # two of three: the question itself
        "c1/mcq/gaussian_noise": (["modality"], ["modality"], ["baseline"]),
        "c2/mcq/gaussian_noise": (["baseline"], ["destroyed"], ["type"]),  # of three only one means the question itself
        "c3/mcq/reduce_contrast": (["answerable"], None, None),
        "c4/mcq/reduce_contrast": (["severity"], ["unchanged"], ["irrelevant"]),
    }
    said = {numbers[name]: reasons for name, reasons in voices.items()}
    for place in range(3):

        def says(number, page, place=place):
            reasons = said.get(number, (None,) * 3)[place]
            return decided("discard", *reasons) if reasons else decided("retain")

        read_all(site.add_person(f"R{place}", "radiologist"), task, says)
    decisions = {decision.item.name: decision for decision in decide_items(site.desk, task)}
    whole = {"c0", "c1"} if rule == "majority" else {"c0", "c1", "c2", "c3"}
    assert {name[:2] for name, decision in decisions.items() if decision.clean == "discard"} == whole
    assert (
        decisions["c0/mcq/reduce_contrast"].decision == "discard"
    )  # nobody spoke against it, but its clean question is out
    assert decisions["c0/mcq/reduce_contrast"].votes == 0
    summary = decision_summary(site.desk, task)
    assert summary["clean"] == {"questions": 6, "discarded": len(whole), "open": 0}
    assert summary["rate"]["discarded"] == 4 * len(whole) + (4 if rule == "majority" else 2)
    left = new_set(site, task, tmp_path)
    assert left["c0"] == ["own"]  # what follows the clean question goes with it
    assert "c1" not in left  # nothing is left of it
    assert ("c2" in left, "c3" in left) == ((True, True) if rule == "majority" else (False, False))
    assert left["c4"] == ["mcq", "mcq-gaussian_noise-L1", "mcq-gaussian_noise-L2"]
    assert len(left["c5"]) == 5
    lines = site.admin.get(f"/admin/tasks/{task.id}/export/decisions.jsonl").text.splitlines()
    out = {line["case"] for line in map(json.loads, lines) if line["clean"] == "discard"}
    assert out == whole
    assert "the clean question is out too" in summary["rule"]
    assert f"Clean questions out with them: {len(whole)} of 6" in site.admin.get(f"/admin/tasks/{task.id}").text


def test_a_clean_question_is_open_until_all_that_is_made_of_it_is_read(site):
    task = site.make_task("retain", "set", ["role:radiologist"], readers="1")
    reader = site.add_person("Rae", "radiologist")
    page = reader.get(f"/tasks/{task.id}/items/1")
    reader.submit(str(page.url), {"once": once(page.text), **decided("discard", "destroyed")})
    first, second = decide_items(site.desk, task)[:2]
    assert (first.decision, first.clean) == ("discard", "open")
    assert (second.decision, second.clean) == ("open", "open")
    page = reader.get(f"/tasks/{task.id}/items/2")
    reader.submit(str(page.url), {"once": once(page.text), **decided("retain")})
    assert {decision.clean for decision in decide_items(site.desk, task)[:2]} == {"retain"}


def test_any_voice_discards_where_that_is_the_rule(site):
    task = site.make_task("retain", "set", ["role:radiologist"], rule="any", readers="2")
    first = site.desk.tasks.list_items(task)[0].number
    read_all(
        site.add_person("R1", "radiologist"),
        task,
        lambda n, page: decided("discard", "unchanged") if n == first else decided("retain"),
    )
    read_all(site.add_person("R2", "radiologist"), task, kept)
    assert [decision.decision for decision in decide_items(site.desk, task)].count("discard") == 1
    assert "any of its readers" in decision_summary(site.desk, task)["rule"]


def test_the_blind_run_is_shown_only_after_the_decision(site):
    task = site.make_task("retain", "set", ["role:radiologist"], blind="blind", readers="1")
    reader = site.add_person("Rae", "radiologist")
    number = next(item.number for item in site.desk.tasks.list_items(task) if item.name.startswith("c1/"))
    path = f"/tasks/{task.id}/items/{number}"
    page = reader.get(path).text
    assert "blind run" not in page
    assert REASONS["answerable"] not in page
    early = reader.submit(path, {"once": once(page), **decided("discard", "answerable")})
    assert (early.status_code, "Decide first" in early.text) == (422, True)
    feigned = reader.submit(path, {"once": once(page), **decided("discard", "answerable", after_blind="yes")})
    assert (feigned.status_code, "Decide first" in feigned.text) == (422, True)
    assert not site.desk.tasks.verdicts(task)
    after = reader.submit(path, {"once": once(page), **decided("retain")})
    assert str(after.url).endswith(path)
    assert "1 of 2" in after.text
    assert REASONS["answerable"] in after.text
    assert str(reader.get(f"/tasks/{task.id}/next").url).endswith(path)  # also if the browser was closed here
    changed = reader.submit(path, {"once": once(after.text), **decided("discard", "answerable", after_blind="yes")})
    assert not str(changed.url).endswith(path)
    (decision,) = [decision for decision in decide_items(site.desk, task) if decision.item.number == number]
    assert (decision.decision, decision.reasons) == ("discard", {"answerable": 1})
    first, last = site.desk.tasks.verdicts(task, number)
    assert (first.said["decision"], last.said["decision"]) == ("retain", "discard")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"decision": ""}, "Choose retain or discard"),
        ({"decision": "discard"}, "Say why"),
        ({"decision": "retain", "reason": ["type"]}, "has no reason"),
        ({"decision": "discard", "reason": ["ugly"]}, "one of the eight"),
    ],
)
def test_a_verdict_that_is_not_valid_is_refused_with_a_message(site, form, message):
    task = site.make_task("retain", "set", ["role:radiologist"])
    reader = site.add_person("Rae", "radiologist")
    page = reader.get(f"/tasks/{task.id}/items/1").text
    sent = reader.submit(f"/tasks/{task.id}/items/1", {"once": once(page), "comment": "", **form})
    assert (sent.status_code, message in sent.text) == (422, True)


@pytest.mark.parametrize(
    ("source", "blind", "message"),
    [
        ("plain", "", "has no degraded question"),
        ("set", "plain", "not a run with marks"),
        ("set", "seen", "shows the"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused_in_one_line(site, source, blind, message):
    write_set(site.root / "plain", [case(1)])
    (site.root / "seen").mkdir()
    rows = [{"case": "c1", "question": "mcq", "condition": CLEAN, "outcome": "right"}]
    pl.DataFrame(rows).write_parquet(site.root / "seen" / "marks.parquet")
    form = {"kind": "retain", "project": "P", "name": "N", "source": source, "blind": blind}
    answer = site.admin.submit("/admin/tasks/new", form)
    assert (answer.status_code, message in answer.text) == (422, True)
