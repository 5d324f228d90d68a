"""The hierarchy is the paper's: 2 abilities, 6 capabilities, 30 skills, as its Table 4 has them."""

from __future__ import annotations

import json
import sys
from collections import defaultdict

import pytest

from wardround.benchmarks.engine.published import load_published
from wardround.building.sources.medq_deg.skills import LabelCounts, describe_without_skill, hierarchy, skill_fields
from wardround.cases.set import CaseSet
from wardround.cli.main import main
from wardround.core.case import Question


def asked(**fields: object) -> Question:
    defaults = {"id": "q", "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 0}
    return Question.model_validate(defaults | fields)


def test_the_hierarchy_is_table_4():
    table = load_published("medq-deg/table4")
    skills = {place.skill: place for place in hierarchy().skills.values()}
    assert set(skills) == set(table.labels)
    assert len(skills) == 30
    for row in table.cells:
        assert skills[row["skill"]].capability == row["mid_level"]
    abilities = defaultdict(set)
    for place in hierarchy().places.values():
        abilities[place.ability].add(place.capability)
    assert {ability: len(capabilities) for ability, capabilities in abilities.items()} == {
        "Medical Perception": 3,
        "Clinical Reasoning": 3,
    }


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"label": "disease diagnosis"}, ("Disease Diagnosis", "Clinical Understanding", "Medical Perception")),
        ({"skill": "Counting"}, ("Counting", "Imaging Perception", "Medical Perception")),
        ({"skill": "Reading", "label": "Bone"}, ("Skeletal System", "Anatomical Recognition", "Medical Perception")),
        ({"skill": "Treatment Reasoning"}, ("Treatment Reasoning", "Treatment Reasoning", "Clinical Reasoning")),
        ({"capability": "diagnosis reasoning"}, (None, "Diagnosis Reasoning", "Clinical Reasoning")),
        ({"label": "Treatment / Reasoning"}, (None, "Treatment Reasoning", "Clinical Reasoning")),
        ({"label": "Treatment Reasoning"}, (None, "Treatment Reasoning", "Clinical Reasoning")),
    ],
)
def test_a_label_leads_to_its_place(fields, wanted):
    place, label = skill_fields(asked(**fields))
    assert label is None
    assert (place.get("skill"), place["capability"], place["task"]) == wanted


def test_a_label_without_a_place_is_returned():
    assert skill_fields(asked(label="Modality Recognition")) == ({}, "Modality Recognition")
    assert skill_fields(asked(skill="Diagnosis")) == ({}, "Diagnosis")
    assert skill_fields(asked()) == ({}, "")


def test_unplaced_labels_have_no_place():
    assert hierarchy().unplaced
    assert not set(hierarchy().unplaced) & set(hierarchy().places)


def test_a_converted_set_can_have_skills(tmp_path, monkeypatch, capsys):
    questions = [asked(id="a", label="Bone"), asked(id="b", label="Reading tea"), asked(id="c", skill="Counting")]
    case = {"id": "x", "questions": [question.model_dump(exclude_unset=True) for question in questions]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    call = ["wardround", "cases", "convert", str(tmp_path), "--out", str(tmp_path / "out"), "--skills", "--json"]
    monkeypatch.setattr(sys, "argv", call)
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr()
    assert json.loads(said.out)["labels_without_place"] == {"Reading tea": 1}
    assert said.err == "without a place among the 30 skills and 6 capabilities: 1 x Reading tea\n"
    (case,) = CaseSet.open(tmp_path / "out", strict=True)
    assert [question.skill for question in case.questions] == ["Skeletal System", None, "Counting"]
    assert [question.task for question in case.questions] == ["Medical Perception", None, "Medical Perception"]


def test_a_skill_that_is_none_of_the_30_is_counted_as_without_a_skill():
    counts = LabelCounts()
    skills = [*["Modality Recognition"] * 3, *["Anatomy Identification"] * 2, "counting", "Counting", None]
    for skill in skills:
        counts.add(asked(skill=skill))
    table = counts.table()
    rows = {row.labels[0]: row.cells[0].value for row in table.rows}
    assert sum(rows.values()) == len(skills)
    assert (rows["Counting"], rows["without a skill"]) == (2, 6)
    assert table.notes == ["Without a skill: 3 x Modality Recognition, 2 x Anatomy Identification, 1 x no label."]
    assert "3 x Modality Recognition" in describe_without_skill(counts)
