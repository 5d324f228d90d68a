"""The hierarchy is the paper's: 2 abilities, 6 capabilities, 30 skills, as its Table 4 has them."""

from __future__ import annotations

from collections import defaultdict

import pytest

from wardround.benchmarks.published import load
from wardround.building.medq_deg.skills import hierarchy, placed
from wardround.core.case import Question


def asked(**fields: object) -> Question:
    told = {"id": "q", "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 0}
    return Question.model_validate(told | fields)


def test_it_is_table_4():
    table = load("medq-deg/table4")
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
    told, label = placed(asked(**fields))
    assert label is None
    assert (told.get("skill"), told["capability"], told["task"]) == wanted


def test_a_label_without_a_place_is_given_back():
    assert placed(asked(label="Modality Recognition")) == ({}, "Modality Recognition")
    assert placed(asked(skill="Diagnosis")) == ({}, "Diagnosis")
    assert placed(asked()) == ({}, "")


def test_what_stands_as_unplaced_has_no_place():
    assert hierarchy().unplaced
    assert not set(hierarchy().unplaced) & set(hierarchy().places)
