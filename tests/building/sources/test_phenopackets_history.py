"""How a phenopacket is put into words: moments, ages, who it is, histories, names of diseases."""

from __future__ import annotations

import random

import pytest

from wardround.building.sources.phenopackets.diseases import all_names, series_name
from wardround.building.sources.phenopackets.history import (
    describe_patient,
    join_items,
    lower_first_letter,
    write_history,
)
from wardround.building.sources.phenopackets.onset import age_in_years, describe_time
from wardround.core.names import Synonyms


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ({"age": {"iso8601duration": "P3Y"}}, "at the age of 3 years"),
        ({"age": {"iso8601duration": "P1Y6M"}}, "at the age of 1 year and 6 months"),
        ({"age": {"iso8601duration": "P1M23D"}}, "at the age of 1 month and 23 days"),
        ({"age": {"iso8601duration": "P0D"}}, "at birth"),
        ({"age": {"iso8601duration": "three"}}, None),
        (
            {"ageRange": {"start": {"iso8601duration": "P2Y"}, "end": {"iso8601duration": "P4Y"}}},
            "between the ages of 2 years and 4 years",
        ),
        ({"gestationalAge": {"weeks": 22, "days": 5}}, "at 22 weeks and 5 days of gestation"),
        ({"ontologyClass": {"id": "HP:0003577", "label": "Congenital onset"}}, "at birth"),
        ({"ontologyClass": {"id": "HP:1", "label": "Odd onset"}}, "at a time recorded as 'Odd onset'"),
        ({"ontologyClass": {"id": "HP:1"}}, None),
        ({"timestamp": "2020-01-01T00:00:00Z"}, None),
        ("yesterday", None),
    ],
)
def test_a_time_is_described(element, said):
    assert describe_time(element) == said


@pytest.mark.parametrize(
    ("duration", "age"),
    [("P4Y", 4), ("P6M", 0.5), ("P10Y6M", 10), ("P1D", 0), ("P", None), (None, None), ("P999Y", None)],
)
def test_an_age_is_in_years(duration, age):
    assert age_in_years(duration) == age


@pytest.mark.parametrize(
    ("age", "sex", "gestation", "said"),
    [
        ("P8Y", "F", None, "an 8-year-old girl"),
        ("P18Y", "M", None, "an 18-year-old man"),
        ("P17M", None, None, "a 17-month-old child"),
        ("P4Y6M", "M", None, "a boy aged 4 years and 6 months"),
        ("P0D", "F", None, "a newborn girl"),
        (None, "M", None, "a male patient"),
        (None, None, None, "a patient"),
        (None, "F", "at 16 weeks of gestation", "a female fetus at 16 weeks of gestation"),
    ],
)
def test_the_patient_is_described(age, sex, gestation, said):
    assert describe_patient({"age": age, "years": age_in_years(age), "sex": sex, "gestation": gestation}) == said


def test_a_history_has_every_feature_in_several_wordings():
    feature = {"severity": None, "modifiers": [], "onset": None}
    record = {
        "age": "P4Y",
        "years": 4,
        "sex": "M",
        "gestation": None,
        "onset": "in infancy",
        "dead": True,
        "present": [
            feature | {"label": "Babinski sign"},
            feature | {"label": "Ataxia", "severity": "Mild", "modifiers": ["Episodic"]},
            feature | {"label": "EEG abnormality", "onset": "at the age of 3 years"},
        ],
        "excluded": [feature | {"label": f"Spot {number}"} for number in range(40)],
    }
    histories = {write_history(record, random.Random(seed)) for seed in range(60)}
    assert len(histories) > 20
    assert len({text.partition(".")[0] for text in histories}) == 2  # of a patient who has died
    for text in histories:
        for part in ("4-year-old boy", "in infancy", "Babinski sign", "mild ataxia (episodic)", "EEG abnormality"):
            assert part in text
        assert "the age of 3 years" in text
        assert text.count("spot ") == 15
        assert "died" in text


def test_features_are_worded_inside_a_sentence():
    assert lower_first_letter("Short stature") == "short stature"
    assert lower_first_letter("EEG abnormality") == "EEG abnormality"
    assert lower_first_letter("Dandy-Walker malformation") == "Dandy-Walker malformation"
    assert lower_first_letter("Raynaud phenomenon") == "Raynaud phenomenon"
    assert lower_first_letter("2-3 toe syndactyly") == "2-3 toe syndactyly"
    assert join_items(["a"]) == "a"
    assert join_items(["a", "b", "c"]) == "a, b and c"
    assert join_items(["a and b", "c"]) == "a and b; and c"


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("Noonan syndrome 2", "Noonan syndrome"),
        ("Cardiomyopathy, dilated, 1A", "Cardiomyopathy, dilated"),
        ("Spastic ataxia 8, autosomal recessive", "Spastic ataxia, autosomal recessive"),
        ("Neurofibromatosis, type 1", None),
        ("Coenzyme Q10 deficiency", None),
        ("Adrenal hyperplasia due to 21-hydroxylase deficiency", None),
    ],
)
def test_a_numbered_disease_has_a_series(name, series):
    assert series_name(name) == series
    assert all_names([name], Synonyms()) == ([name, series] if series else [name])
