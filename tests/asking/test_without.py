"""One modality left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, text_of
from exam_study import case, examine, write_cases, write_study
from PIL import Image

from wardround.asking.applicable import conditions_for, inapplicable_reason
from wardround.asking.tellings import shown_image_numbers
from wardround.asking.without import names_left_out_modality
from wardround.core.case import Case
from wardround.core.condition import Condition, cross_axes
from wardround.core.study import CandidateSettings

IMAGES = [{"path": f"{n}.png", "modality": modality} for n, modality in enumerate(["CFP", "OCT", "CFP", "FFA"])]


def eye(images: list[dict[str, Any]] = IMAGES, of_question: list[int] | None = None, **fields: Any) -> Case:
    question = case(0)["questions"][0] | ({} if of_question is None else {"images": of_question})
    return Case.model_validate(case(0, questions=[question], images=images, **fields))


def test_images_of_the_modality_are_left_out_of_case_telling_and_question():
    tellings = {"multimodal": {"images": [1, 2, 3]}}
    for whole, telling, kept in (
        (eye(), "own", [1, 3]),
        (eye(tellings=tellings), "multimodal", [1, 3]),
        (eye(of_question=[0, 3]), "own", [3]),
        (eye(of_question=[0, 1], tellings=tellings), "multimodal", [1]),
    ):
        for spelled in ("CFP", "cfp"):
            condition = Condition(without=spelled, telling=telling)
            assert shown_image_numbers(whole, whole.questions[0], condition) == kept


@pytest.mark.parametrize(
    ("whole", "condition", "reason"),
    [
        (eye(), {"without": "OCT"}, None),
        (eye(), {"without": "ICGA"}, "no ICGA image is shown that could be left out"),
        (eye(IMAGES[:1]), {"without": "CFP"}, "only CFP is shown"),
        (eye([IMAGES[0], IMAGES[2]]), {"without": "CFP"}, "only CFP is shown"),
        (eye(of_question=[1]), {"without": "OCT"}, "only OCT is shown"),
        (eye(of_question=[1]), {"without": "CFP"}, "no CFP image is shown"),
        (eye(), {"without": "OCT", "inputs": "history"}, "no OCT image is shown"),
        (eye(), {"without": "OCT", "images": "none"}, "no OCT image is shown"),
        (eye(tellings={"text": {"images": []}}), {"without": "OCT", "telling": "text"}, "no OCT image is shown"),
        (eye(), {"without": "OCT", "images": "blank"}, None),
    ],
)
def test_a_case_with_nothing_to_leave_out_has_its_reason(whole, condition, reason):
    why = inapplicable_reason(whole, whole.questions[0], Condition(**condition))
    assert why is None if reason is None else reason in (why or "")


def test_a_blind_candidate_is_asked_once():
    conditions = cross_axes({"without": ["none", "CFP", "OCT"], "evidence": ["none", "rag"]})
    blind = CandidateSettings(name="b", provider="random", sees=False)
    assert [(condition.without, condition.evidence) for condition in conditions_for(blind, conditions)] == [
        ("none", "none"),
        ("none", "rag"),
    ]


@pytest.mark.parametrize(
    ("modality", "text", "named"),
    [
        ("OCT", "What does the OCT show?", True),
        ("OCT", "Optical coherence tomography was done.", True),
        ("OCT", "Seen in October on octopus day.", False),
        ("FFA", "Fluorescein angiography shows leakage", True),
        ("ICGA", "Fluorescein angiography shows leakage", False),
        ("CFP", "On the colour fundus photograph", True),
        ("US", "It was told to us.", False),
        ("US", "US of the liver", True),
        ("MRI", "Mr Smith", False),
        ("RetCam", "a RETCAM image", True),
    ],
)
def test_a_text_that_names_the_left_out_modality_is_recognised(modality, text, named):
    condition = Condition(without=modality)
    question = case(0)["questions"][0]
    for fields in (
        {"history": text},
        {"findings": text},
        {"questions": [question | {"prompt": text}]},
        {"questions": [question | {"options": [text, "other"], "gold": 1}]},
    ):
        whole = Case.model_validate(case(0, **fields))
        assert names_left_out_modality(whole, whole.questions[0], condition) == named
    hidden = Case.model_validate(case(0, history=text))
    assert not names_left_out_modality(hidden, hidden.questions[0], Condition(without=modality, inputs="images"))
    assert not names_left_out_modality(hidden, hidden.questions[0], Condition())


def test_a_run_without_a_modality_counts_inapplicable_questions_and_warns(tmp_path: Path):
    cases = [case(n, images=IMAGES) for n in range(3)] + [case(n, images=IMAGES[:1]) for n in range(3, 5)]
    cases[0]["history"] = "OCT shows subretinal fluid."
    write_cases(tmp_path / "cases", cases)
    for place, image in enumerate(IMAGES):
        Image.new("L", (8, 8), 40 * place).save(tmp_path / "cases" / image["path"])
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, conditions={"without": ["none", "OCT"]})
        manifest = examine(study)
    assert manifest["inapplicable"] == {"no OCT image is shown that could be left out": 2}
    assert manifest["warnings"] == ["without = OCT: 1 of 3 questions asked so still name it in their text"]
    listed = sorted(text_of(body).partition("Images, in order: ")[2].partition("\n")[0] for body in server.bodies[:8])
    assert listed == ["1. CFP"] * 2 + ["1. CFP; 2. CFP; 3. FFA"] * 3 + ["1. CFP; 2. OCT; 3. CFP; 4. FFA"] * 3
