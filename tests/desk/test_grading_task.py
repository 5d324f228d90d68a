"""Specialists set levels and importance at the desk, blind to those of the set, and the build uses them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from desk_site import DeskSite, once, read_all
from PIL import Image
from sklearn.metrics import cohen_kappa_score

from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.cases.set import CaseSet
from wardround.core.case import Question
from wardround.core.errors import BadInput
from wardround.desk.tasks.grading import LEVELS, level_agreements

FIRST = "RASA"  # what the first specialist says of questions 1, 2, 3, ...; the second says R of every fifth


IMAGES = (
    "OCT,1,DME,inner retina,intraretinal cystoid spaces,3",
    "CFP,1,DME,macula,hard exudates,3",
    "CFP,2,DR,macula,microaneurysms,1",
    "CFP,3,glaucoma,optic disc,enlarged cup with thin neuroretinal rim,2",
    "CFP,4,CRVO,vascular arcades,flame-shaped haemorrhages,1",
)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    lines = ["image,quality,modality,patient,disease,anatomy,lesions,grade"]
    for number, image in enumerate(IMAGES):
        Image.effect_noise((64, 64), 20 + 15 * number).save(folder / f"{number}.png")
        lines.append(f"{number}.png,good,{image}")
    (folder / "eyes.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder / "eyes.csv"


@pytest.fixture(scope="module")
def graded(table, tmp_path_factory) -> tuple[DeskSite, object]:
    """A task that two specialists have read."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    build_ophthalmic(table, site.root / "eyes")
    task = site.make_task("grading", "eyes", ["role:specialist"])
    first, second = site.add_person("One", "specialist"), site.add_person("Other", "specialist")
    page = first.get(f"/tasks/{task.id}/next").text
    assert not re.search(r"checked", page)
    read_all(first, task, lambda number, page: {"grade": one(number), "importance": str(number % 3 + 1), "comment": ""})
    read_all(second, task, lambda number, page: {"grade": other(number), "importance": "3", "comment": ""})
    return site, task


def one(number: int) -> str:
    return FIRST[number % 4]


def other(number: int) -> str:
    return "R" if number % 5 == 0 else one(number)


def exported(site: DeskSite, task, folder: Path) -> Path:
    file = folder / "grades.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/grades.jsonl").content)
    return file


def test_agreement_is_by_level_as_scikit_learn_has_it(graded):
    site, task = graded
    items = [item.number for item in site.desk.tasks.list_items(task)]
    found = dict(level_agreements(site.desk, task))
    for level, words in LEVELS.items():
        ours, theirs = [one(number) == level for number in items], [other(number) == level for number in items]
        assert found[words].value == pytest.approx(cohen_kappa_score(ours, theirs))
    assert found["Importance"].value == pytest.approx(
        cohen_kappa_score([number % 3 + 1 for number in items], [3] * len(items))
    )
    page = site.admin.get(f"/admin/tasks/{task.id}").text
    assert "Agreement by level" in page
    assert LEVELS["S"] in page


def test_every_question_is_graded_drafts_of_decisions_too(graded):
    site, task = graded
    batches = {item.batch for item in site.desk.tasks.list_items(task)}
    assert {"IQA", "DD", "SG", "CD", "integration"} <= batches


def test_the_build_uses_what_specialists_agree_on(graded, table, tmp_path):
    """The level of the majority and the median importance; without a majority the schema's."""
    site, task = graded
    file = exported(site, task, tmp_path)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    agreed = {
        item.name: item.number for item in site.desk.tasks.list_items(task) if one(item.number) == other(item.number)
    }
    assert {f"{line['case']}/{line['question']}" for line in lines} == set(agreed)
    build_ophthalmic(table, tmp_path / "new", grades=file)
    before, after = questions_by_name(site.root / "eyes"), questions_by_name(tmp_path / "new")
    assert before.keys() == after.keys()
    for name, question in after.items():
        number = agreed.get(name)
        expected = (one(number), (number % 3 + 1 + 3) / 2) if number else None
        assert (question.grade, question.importance) == (expected or (before[name].grade, before[name].importance))


def questions_by_name(folder: Path) -> dict[str, Question]:
    """All choice questions of a set, the drafts of decisions too."""
    questions = {
        f"{case.id}/{question.id}": question
        for case in CaseSet.open(folder)
        for question in case.questions
        if question.kind == "choice"  # the open form of a diagnosis has the grade of the choice
    }
    drafts = [json.loads(line) for line in (folder / "review" / "decisions.jsonl").read_text().splitlines()]
    assert drafts
    return questions | {f"{line['id']}/{line['adds']['id']}": Question.model_validate(line["adds"]) for line in drafts}


def test_grades_of_another_set_are_refused_in_one_line(graded, table, tmp_path):
    file = exported(*graded, tmp_path)
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(first) | {"answer": "something else"}), *rest]))
    with pytest.raises(BadInput, match="graded with the answer 'something else', built with"):
        build_ophthalmic(table, tmp_path / "new", grades=file)
    file.write_text('{"case": "eye-00001", "question": "dd-1", "answer": "x", "grade": "B", "importance": 1}')
    with pytest.raises(BadInput, match=r"grades.jsonl:1: grade"):
        build_ophthalmic(table, tmp_path / "new", grades=file)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"grade": "R"}, "Choose how important"),
        ({"importance": "2"}, "Choose a level"),
        ({"grade": "B", "importance": "2"}, "Choose a level"),
    ],
)
def test_both_must_be_chosen(table, tmp_path, form, problem):
    site = DeskSite(tmp_path)
    build_ophthalmic(table, site.root / "eyes")
    task = site.make_task("grading", "eyes", ["role:specialist"], many="3")
    assert len(site.desk.tasks.list_items(task)) == 3
    reader = site.add_person("Third", "specialist")
    page = reader.get(f"/tasks/{task.id}/next")
    sent = reader.submit(str(page.url), {"once": once(page.text), "comment": "", **form})
    assert sent.status_code == 422
    assert problem in sent.text
