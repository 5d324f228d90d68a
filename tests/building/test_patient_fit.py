"""Options that a patient's sex or age rules out are not offered, and the audit reports those of other sets."""

from __future__ import annotations

import random

import pytest

from wardround.building.audit.impossible_options import find_impossible_options
from wardround.building.distractors.assign import EMPTY, assign_distractors
from wardround.building.distractors.from_source import OptionRequest, choose_options
from wardround.building.distractors.patient_fit import PatientFacts, PatientFilter, is_picky, why_impossible
from wardround.core.case import Case

IMPOSSIBLE = [
    ("Prostate cancer", "F", 60),
    ("Testicular torsion", "female", 16),
    ("Ovarian torsion", "M", 30),
    ("Ruptured ectopic pregnancy", "M", 30),
    ("Cervical cancer", "male", 50),
    ("Ectopic pregnancy", "F", 74),
    ("Neonatal lupus", "M", 40),
    ("Infantile spasms", None, 35),
    ("Age-related macular degeneration", "F", 6),
    ("Senile cataract", None, 3),
    ("Hyperemesis gravidarum", "M", 30),
    ("Krukenberg tumor", "M", 50),
    ("Hydrosalpinx", "M", 40),
    ("Giant cell arteritis", "F", 6),
    ("Benign prostatic hyperplasia", "M", 6),
    ("Biliary atresia", "F", 50),
]
POSSIBLE = [
    ("Breast cancer", "M", 60),
    ("Choriocarcinoma", "M", 25),  # of the testis
    ("Fournier gangrene", "F", 60),
    ("Adnexal carcinoma of the skin", "M", 60),
    ("Prostate cancer", "M", 60),
    ("Prostate cancer", None, None),
    ("Cervical spondylosis", "M", 50),
    ("Neonatal lupus", "F", 0.1),
    ("Neonatal lupus", None, None),
    ("Ectopic pregnancy", "F", 28),
    ("Juvenile myoclonic epilepsy", "M", 25),
]


@pytest.mark.parametrize(("name", "sex", "age"), IMPOSSIBLE)
def test_sex_or_age_rules_it_out(name, sex, age):
    assert why_impossible(name, PatientFacts.of(sex, age)) is not None
    assert is_picky(name)


@pytest.mark.parametrize(("name", "sex", "age"), POSSIBLE)
def test_sex_and_age_allow_it(name, sex, age):
    assert why_impossible(name, PatientFacts.of(sex, age)) is None


def test_assigned_distractors_fit_the_patient():
    names = ["Prostate cancer", "Ovarian cancer", "Gout", "Lupus", "Asthma", "Malaria"]
    golds = [number % 6 for number in range(60)]
    patients = [
        PatientFacts("M" if gold == 0 or (gold > 1 and place % 2) else "F", 40) for place, gold in enumerate(golds)
    ]
    patient_filter = PatientFilter(names, patients)
    assignment, _ = assign_distractors(
        golds, 3, lambda one, other: one != other, random.Random(1), patient_filter.accepts, patient_filter.picky
    )
    assert EMPTY not in assignment.diseases
    for question, patient in enumerate(patients):
        for disease in assignment.distractors(question):
            assert why_impossible(names[disease], patient) is None
    men = sum(patient.sex == "M" for patient in patients)
    assert patient_filter.count_impossible() == men + (len(patients) - men)  # one disease of each sex


def test_answers_of_other_questions_fit_the_patient():
    others = [OptionRequest(name, [name], ["Gout", "Asthma", "Lupus"], 4, "g", "", PatientFacts("M", 60))
              for name in ["Prostate cancer", "Seminoma", "Testicular torsion", "Epididymitis"] * 2]  # fmt: skip
    woman = OptionRequest(
        "Sarcoidosis", ["Sarcoidosis"], ["Gout", "Asthma", "Lupus"], 4, "g", "", PatientFacts("F", 60)
    )
    for seed in range(10):
        options, _ = choose_options([*others, woman], random.Random(seed))
        assert sorted(options[-1].distractors) == ["Asthma", "Gout", "Lupus"]


def test_the_audit_names_each_impossible_option():
    question = {"id": "q", "kind": "choice", "prompt": "?", "options": ["Gout", "Prostate cancer"], "gold": 0}
    case = {"id": "one", "patient": {"sex": "female", "age": 50}, "questions": [question]}
    [finding] = find_impossible_options([Case.model_validate(case)])
    assert (finding.severity, finding.kind) == ("warning", "impossible_option")
    assert "'Prostate cancer'" in finding.what
    sexed = {**question, "options": ["Gout", "Prostate cancer", "Seminoma", "Neonatal sepsis"]}
    found = [finding.what.split("'")[1] for finding in find_impossible_options(
        [Case.model_validate(case | {"questions": [sexed]})])]  # fmt: skip
    assert found == ["Prostate cancer", "Seminoma", "Neonatal sepsis"]
    right = case | {"questions": [question | {"gold": 1}]}
    assert list(find_impossible_options([Case.model_validate(right)])) == []
