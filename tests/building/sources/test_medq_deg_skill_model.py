"""All 30 skills are reachable: plain labels by the table, the rest by a named model whose choices people review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clean_pool import draw_picture, write_pool
from clean_pool import question as make_question
from exam_server import ExamServer, text_of

from wardround.building.review.items import list_items
from wardround.building.sources.medq_deg.build import build_medq_deg
from wardround.building.sources.medq_deg.skill_model import ModelSkills, offered_skills, read_skill
from wardround.building.sources.medq_deg.skills import hierarchy
from wardround.cases.set import CaseSet
from wardround.core.case import Question
from wardround.core.study import CandidateSettings


def asked(**fields: object) -> Question:
    defaults = {"id": "q", "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 0}
    return Question.model_validate(defaults | fields)


def test_every_one_of_the_30_can_be_chosen():
    anything = asked()
    assert len(offered_skills(anything)) == 30
    for place in hierarchy().skills.values():
        for reply in (str(place.skill), f"{place.skill}.", f"**{place.skill}**", f"- {place.skill}"):
            assert read_skill(reply, anything) == place, reply


def test_a_known_capability_narrows_the_choice():
    vessels = asked(label="Blood Vessels Recognition")
    assert len(offered_skills(vessels)) == 9
    assert {place.capability for place in offered_skills(vessels)} == {"Anatomical Recognition"}
    assert read_skill("Counting", vessels) is None, "it is of another capability"
    assert read_skill("Neurovascular", vessels) == hierarchy().skills["neurovascular"]


@pytest.mark.parametrize("reply", ["none", "", "Counting or Neurovascular", "I am not sure"])
def test_a_reply_that_names_none_or_several_places_nothing(reply):
    assert read_skill(reply, asked()) is None


def test_the_models_choice_replaces_a_name_that_is_none_of_the_30():
    chosen = ModelSkills({("x", "q"): hierarchy().skills["counting"]})
    question = chosen.complete("x", asked(skill="Quantities"))
    assert question.skill == "Counting"
    assert (question.model_extra or {})["label"] == "Quantities"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, list[str], Any]:
    """Three questions: a plain label, a capability alone, and no label; the model knows the second, not the third."""
    folder = tmp_path_factory.mktemp("skills")
    labels = ["Bone", "Blood Vessels Recognition", None]
    (folder / "pool" / "images").mkdir(parents=True)
    cases = []
    for number, label in enumerate(labels):
        draw_picture(number, "RGB").save(folder / "pool" / "images" / f"{number}.png")
        fields = {"prompt": f"Which structure is number {number}?"} | ({"label": label} if label else {})
        image = {"path": f"images/{number}.png", "modality": "CT"}
        cases.append({"id": f"case-{number}", "images": [image], "questions": [make_question(**fields)]})
    pool = write_pool(folder / "pool", cases)
    shown: list[str] = []

    def reply(body: dict[str, Any], index: int) -> str:
        shown.append(text_of(body))
        return "Cardiovascular" if "number 1" in shown[-1] else "none"

    with ExamServer(reply) as server:
        model = CandidateSettings(name="skill", provider="openai", base_url=server.url, model="sorter")
        result = build_medq_deg([pool], folder / "set", models={"skill": model}, answers=folder / "answers.sqlite")
    return result.folder, shown, result


def test_the_model_is_asked_only_for_what_no_label_places(built):
    folder, shown, _ = built
    assert len(shown) == 2
    of_vessels = next(text for text in shown if "number 1" in text)
    assert "- Cardiovascular (Anatomical Recognition)" in of_vessels
    assert "- Counting" not in of_vessels
    questions = {case.id: case.questions for case in CaseSet.open(folder)}
    assert [questions[f"case-{n}"][0].skill for n in range(3)] == ["Skeletal System", "Cardiovascular", None]
    assert {question.skill for question in questions["case-1"]} == {"Cardiovascular"}, "its degraded twins have it too"
    assert (questions["case-1"][0].model_extra or {})["skill_from"] == "model"


def test_its_choices_are_a_review_queue(built):
    folder, _, _ = built
    lines = [json.loads(line) for line in (folder / "review" / "skills.jsonl").read_text().splitlines()]
    assert [(line["id"], line["skill"]) for line in lines] == [("case-1", "Cardiovascular"), ("case-2", None)]
    items = [item for item in list_items(CaseSet.open(folder)) if item.queue == "skills"]
    assert len(items) == 2
    assert "fit the question" in items[0].decide


def test_the_build_reports_the_questions_of_each_skill(built):
    folder, _, result = built
    rows = {row.labels[0]: row.cells[0].value for row in result.labels.table().rows}
    assert len(rows) == 31
    assert (rows["Skeletal System"], rows["Cardiovascular"], rows["Counting"], rows["without a skill"]) == (1, 1, 0, 1)
    assert result.to_dict()["skills_by_model"] == 1
    manifest = json.loads((folder / "manifest.json").read_text())
    assert len(manifest["skills_without_questions"]) == 28
