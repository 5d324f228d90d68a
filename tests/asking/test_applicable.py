"""What can be asked, by whom, and what belongs together."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.asking.applicable import conditions_for, inapplicable_reason
from wardround.asking.units import question_units, select_questions
from wardround.core.case import Case
from wardround.core.condition import Condition, cross_axes
from wardround.core.study import CandidateSettings, Study

SEEING = CandidateSettings(name="a", provider="random")
BLIND = CandidateSettings(name="b", provider="random", sees=False)


def choice(id: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0, **fields}


def case(**fields: Any) -> Case:
    return Case.model_validate({"id": "c", "questions": [choice("mcq")], **fields})


def study(questions: list[str]) -> Study:
    candidate = {"name": "a", "provider": "random"}
    return Study.model_validate({"name": "s", "cases": "c", "questions": questions, "candidates": [candidate]})


def inputs_and_images(conditions: list[Condition]) -> list[tuple[str, str]]:
    return [(condition.inputs, condition.images) for condition in conditions]


def test_a_blind_candidate_gets_no_conditions_that_differ_in_images_alone():
    conditions = cross_axes({"inputs": ["history", "history+images", "images"], "images": ["as-is", "blank", "none"]})
    assert conditions_for(SEEING, conditions) == conditions
    assert inputs_and_images(conditions_for(BLIND, conditions)) == [("history", "as-is"), ("images", "as-is")]


def test_a_blind_candidate_gets_conditions_that_differ_in_other_axes():
    conditions = cross_axes(
        {"inputs": ["history+images+findings", "history+findings"], "options": ["as-given", "rotated"]}
    )
    kept = conditions_for(BLIND, conditions)
    assert [(condition.inputs, condition.options) for condition in kept] == [
        ("history+images+findings", "as-given"),
        ("history+images+findings", "rotated"),
    ]


CHAIN = case(
    questions=[
        choice("single", stage="X"),
        choice("last", stage="DX", chain="c7", given=["middle", "first"]),
        choice("middle", stage="AL", chain="c7", given=["first"]),
        choice("first", stage="IQA", chain="c7"),
        choice("unrelated", stage="QC", chain="c7"),
        choice("other", stage="DX", chain="c8"),
        {"id": "free", "kind": "open", "prompt": "?", "gold": "flu"},
    ]
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["single"], [["single"]]),
        (["open"], [["free"]]),
        (["last"], [["first", "middle", "last"]]),
        (["AL"], [["first", "middle"]]),
        (["DX"], [["first", "middle", "last"], ["other"]]),
        (["QC", "IQA"], [["first", "unrelated"]]),
        (["all"], [["single"], ["free"], ["first", "unrelated", "middle", "last"], ["other"]]),
        (["nothing"], []),
    ],
)
def test_chains_are_asked_with_their_ancestors_in_the_order_of_given(wanted, expected):
    together = question_units(CHAIN, select_questions(CHAIN, study(wanted)))
    assert [[question.id for question in unit] for unit in together] == expected


IMAGE = [{"path": "1.png", "modality": "CT"}]
OPEN = [{"id": "free", "kind": "open", "prompt": "?", "gold": "flu"}]


@pytest.mark.parametrize(
    ("fields", "condition", "reason"),
    [
        ({}, {}, None),
        ({}, {"inputs": "history"}, "the case has no history"),
        ({"history": "x"}, {"inputs": "history+images"}, "the case has no images"),
        ({"history": "x"}, {"inputs": "history+findings"}, "the case has no findings"),
        ({}, {"telling": "text"}, None),  # a case with no tellings and no images is its own `text` telling
        ({"history": "x"}, {"telling": "text", "inputs": "history"}, None),
        ({"images": IMAGE}, {"telling": "text"}, "the case has no telling 'text'"),
        ({"tellings": {"multimodal": {"history": "x"}}}, {"telling": "text"}, "the case has no telling 'text'"),
        ({}, {"telling": "multimodal"}, "the case has no telling 'multimodal'"),
        ({"tellings": {"text": {"history": "x"}}}, {"telling": "text", "inputs": "history"}, None),
        ({"images": IMAGE, "tellings": {"text": {"images": []}}}, {"telling": "text", "inputs": "images"}, "no images"),
        ({}, {"images": "blank"}, "no images are shown"),
        ({"images": IMAGE, "history": "x"}, {"inputs": "history", "images": "none"}, "no images are shown"),
        ({"images": IMAGE}, {"images": "none"}, None),
        ({"images": IMAGE}, {"images": "blank", "stem": "options-only"}, "no images are shown"),
        ({"questions": OPEN}, {"stem": "options-only"}, "no options to show"),
        ({"questions": OPEN}, {"options": "rotated"}, "no options to reorder"),
        ({"questions": OPEN}, {"confidence": "logprobs"}, "no option log-probabilities"),
        ({"questions": OPEN}, {"confidence": "verbal"}, None),
        ({}, {"confidence": "logprobs", "reasoning": "on"}, "need reasoning off"),
        ({}, {"confidence": "logprobs", "options": "rotated"}, "cannot rotate"),
        ({"questions": [choice("q", options=[f"o{n}" for n in range(26)])]}, {}, None),
        ({"questions": [choice("q", options=[f"o{n}" for n in range(27)])]}, {}, "more options than letters"),
    ],
)
def test_an_inapplicable_question_has_its_reason(fields, condition, reason):
    asked = case(**fields)
    why = inapplicable_reason(asked, asked.questions[0], Condition(**condition))
    assert why is None if reason is None else reason in (why or "")


@pytest.mark.parametrize("kind", ["choice", "open", "rubric"])
@pytest.mark.parametrize(
    "axes", [{}, {"reasoning": "on"}, {"prompt": "other"}, {"confidence": "votes"}, {"options": "rotated"}]
)
def test_an_ordinary_condition_applies_to_every_question_without_degradations(kind: str, axes: dict[str, str]) -> None:
    """By the rules themselves, which the renderer does not consult for such a condition."""
    criteria = [{"id": "1", "text": "names it", "points": 1}]
    questions = {
        "choice": choice("q"),
        "open": {"id": "q", "kind": "open", "prompt": "?", "gold": "flu"},
        "rubric": {"id": "q", "kind": "rubric", "prompt": "?", "criteria": criteria},
    }
    condition = Condition(**axes)
    assert condition.is_ordinary == (not axes.keys() & {"confidence", "options"})
    for images in ([], [{"path": "1.png"}]):
        asked = case(questions=[questions[kind]], images=images)
        reason = inapplicable_reason(asked, asked.questions[0], condition)
        assert reason is None or not condition.is_ordinary
