"""Rubric writing on the desk: criteria, points and axes are written and edited, and come back as cases."""

from __future__ import annotations

import json
import re

import pytest
from desk_site import SCRIPT, DeskSite, once, write_set
from exam_study import case

from wardround.cases.set import CaseSet
from wardround.cases.validation import validate

CRITERIA = [
    {"id": "ecg", "text": f"Advises an ECG at once {SCRIPT}", "points": 6.5, "axis": "accuracy", "tags": ["theme:x"]},
    {"id": "home", "text": "Sends the patient home", "points": -8},
]
RUBRIC = {"id": "advice", "kind": "rubric", "prompt": "What do you do first?", "gold": "An ECG.", "criteria": CRITERIA}
NEW = {
    "decision": "write",
    "prompt": "What do you tell the patient?",
    "text:0": "Explains gout",
    "points:0": "5",
    "axis:0": "communication",
    "text:3": "Forbids all movement",
    "points:3": "−2,5",
}


@pytest.fixture
def site(tmp_path) -> DeskSite:
    site = DeskSite(tmp_path)
    edited = {"id": "chest", "history": "Chest pain.", "questions": [*case(1)["questions"], RUBRIC], "own": {"kept": 1}}
    write_set(site.root / "set", [edited, case(2), case(3)])
    site.writers = [site.add_person(name, "attending") for name in ("Ines", "Ben")]
    return site


@pytest.fixture
def task(site):
    return site.make_task("rubrics", "set", ["role:attending"], writers="2")


def item_number(site: DeskSite, task, name: str) -> int:
    return next(item.number for item in site.desk.tasks.list_items(task) if item.name == name)


def save(site: DeskSite, task, name: str, form: dict, writer: int = 0):
    """What the page answers when a person saves this form."""
    address = f"/tasks/{task.id}/items/{item_number(site, task, name)}"
    page = site.writers[writer].get(address)
    return site.writers[writer].submit(address, {"once": once(page.text), **form}, follow_redirects=False)


def shown_form(page: str) -> dict[str, str]:
    """The criteria in the form as a browser would send them."""
    cells = dict(re.findall(r'<input[^>]*?name="(\w+:\d+)"[^>]*?value="([^"]*)"', page))
    return cells | dict(re.findall(r'<textarea name="(text:\d+|prompt|gold)"[^>]*>(.*?)</textarea>', page, re.S))


def exported(site: DeskSite, task) -> dict:
    (site.root / "set" / "cases.jsonl").write_text(site.admin.get(f"/admin/tasks/{task.id}/export/cases.jsonl").text)
    assert not validate(site.root / "set")
    return {case.id: case for case in CaseSet.open(site.root / "set")}


def test_a_case_without_a_rubric_gets_one_and_another_gets_none(site, task):
    assert save(site, task, "case-2/rubric", NEW).status_code == 303
    assert save(site, task, "case-3/rubric", {"decision": "discard", "comment": "nothing to tell"}).status_code == 303

    cases = exported(site, task)

    choice, rubric = cases["case-2"].questions
    assert (choice.kind, rubric.id, rubric.prompt) == ("choice", "rubric", "What do you tell the patient?")
    assert [(c.id, c.text, c.points, c.axis) for c in rubric.criteria] == [
        ("c1", "Explains gout", 5.0, "communication"),
        ("c2", "Forbids all movement", -2.5, None),
    ]
    assert [question.kind for question in cases["case-3"].questions] == ["choice"]
    assert [question.id for question in cases["chest"].questions] == ["mcq", "advice"]  # as it was
    assert json.loads((site.root / "set/cases.jsonl").read_text().splitlines()[0])["own"] == {"kept": 1}


def test_a_rubric_is_edited_by_one_person_after_the_other_and_all_versions_are_kept(site, task):
    address = f"/tasks/{task.id}/items/{item_number(site, task, 'chest/advice')}"
    page = site.writers[0].get(address).text
    assert SCRIPT not in page
    form = shown_form(page)
    assert (form["id:0"], form["points:0"], form["axis:0"], form["points:1"]) == ("ecg", "6.5", "accuracy", "-8")
    assert form["gold"] == "An ECG."
    first = {**form, "decision": "write", "text:0": "Advises an ECG", "points:0": "7", "axis:0": "", "gold": ""}
    assert save(site, task, "chest/advice", first).status_code == 303
    second = shown_form(site.writers[1].get(address).text)
    assert (second["text:0"], second["points:0"]) == ("Advises an ECG", "7")  # the version of the first
    second |= {"decision": "write", "text:2": "Measures troponin", "points:2": "4"}
    assert save(site, task, "chest/advice", second, writer=1).status_code == 303

    rubric = exported(site, task)["chest"].questions[1]

    assert [(c.id, c.text, c.points, c.axis, c.tags) for c in rubric.criteria] == [
        ("ecg", "Advises an ECG", 7.0, None, ["theme:x"]),
        ("home", "Sends the patient home", -8.0, None, []),
        ("c1", "Measures troponin", 4.0, None, []),
    ]
    assert rubric.gold == ""
    lines = site.admin.get(f"/admin/tasks/{task.id}/export/verdicts.jsonl").text.splitlines()
    assert [len(json.loads(line)["said"]["criteria"]) for line in lines] == [2, 3]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"points:0": "five"}, "criterion 1 has five points; write a number from -100 to 100, not 0"),
        ({"points:0": "0"}, "criterion 1 has 0 points"),
        ({"points:0": "nan"}, "criterion 1 has nan points"),
        ({"text:0": ""}, "criterion 1 needs a text"),
        ({"text:3": "explains GOUT"}, "criterion 2 is there twice"),
        ({"points:0": "-1"}, "a rubric needs at least one criterion with points above 0"),
        ({"text:0": "", "points:0": "", "text:3": "", "points:3": ""}, "a rubric needs criteria"),
        ({"prompt": " "}, "write the question"),
        ({"decision": ""}, "choose whether the rubric is saved"),
        ({"decision": "discard", "comment": ""}, "say in the comment why"),
    ],
)
def test_what_is_not_a_rubric_is_refused_and_what_was_typed_is_kept(site, task, change, problem):
    answer = save(site, task, "case-2/rubric", NEW | change)
    assert answer.status_code == 422
    (alert,) = re.findall(r'role="alert">(.*?)</p>', answer.text, re.S)
    assert problem.lower() in alert.lower()
    if "text:3" not in change:
        assert "Forbids all movement" in answer.text
    assert not site.desk.tasks.verdicts(task)
