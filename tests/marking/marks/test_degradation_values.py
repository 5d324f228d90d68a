"""What was degraded in what a mark is about, and how far."""

import pytest

from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.marking.slice_values import degradation_values

CASE = Case.model_validate(
    {
        "id": "c",
        "images": [
            {"path": "0.png"},
            {"path": "1.png", "degradations": ["sparse_view@L2"]},
            {"path": "2.png", "degradations": ["real@severe"]},
        ],
        "questions": [
            {"id": name, "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 0, **fields}
            for name, fields in {
                "plain": {"images": [0]},
                "one": {"degradations": ["low_dose@L1"]},
                "two": {"degradations": ["gaussian_noise@L2", "motion_blur@L2"]},
                "unlike": {"degradations": ["gaussian_noise@L2", "low_dose@L1"]},
                "untouched": {"degradations": ["low_dose@L0"]},
                "filed": {"images": [1]},
                "real": {"images": [2]},
                "all": {},
            }.items()
        ],
    }
)


@pytest.mark.parametrize(
    ("question", "degradation", "expected"),
    [
        ("one", "none", (None, "L0", None)),
        ("filed", "none", (None, "L0", None)),
        ("plain", "ghosting@L2", ("ghosting", "L2", "Artifacts")),
        ("plain", "low_dose@0.37", ("low_dose", "0.37", "Noise")),
        ("plain", "low_dose@L0", (None, "L0", None)),
        ("plain", "assigned", (None, "L0", None)),
        ("one", "assigned", ("low_dose", "L1", "Noise")),
        ("one", "stored", ("low_dose", "L1", "Noise")),
        ("two", "assigned", ("gaussian_noise+motion_blur", "L2", "Noise+Resolution and Blur")),
        ("unlike", "assigned", ("gaussian_noise+low_dose", "L1+L2", "Noise")),
        ("untouched", "assigned", (None, "L0", None)),
        ("plain", "stored", (None, "L0", None)),
        ("filed", "stored", ("sparse_view", "L2", "Artifacts")),
        ("filed", "assigned", ("sparse_view", "L2", "Artifacts")),
        ("real", "assigned", ("real", "severe", None)),
        ("plain", "low_dose@0", (None, "L0", None)),
        ("real", "stored", ("real", "severe", None)),
        ("all", "stored", ("sparse_view+real", "L2+severe", None)),
    ],
)
def test_a_mark_carries_type_severity_and_category(question, degradation, expected):
    asked = next(other for other in CASE.questions if other.id == question)
    assert tuple(degradation_values(CASE, asked, Condition(degradation=degradation)).values()) == expected
