"""What is read in the words of an article: specialties, diagnoses, abbreviations, sections."""

from __future__ import annotations

import pytest

from wardround.building.sources.pmc.article import strip_marks
from wardround.building.sources.pmc.diagnosis import (
    expand_abbreviation,
    find_abbreviations,
    find_diagnosis,
    find_differentials,
)
from wardround.building.sources.pmc.labels import specialty_of
from wardround.building.sources.pmc.sentences import Sentence, role_of


def test_words_decide_the_specialty():
    assert specialty_of(["Acute pancreatitis"]) == "Gastroenterology and Hematology"
    assert specialty_of(["Odontogenic myxoma"]) == "Dentistry"
    assert specialty_of(["Mystery", "Cardiology"]) == "Cardiovascular and Internal Medicine"
    assert specialty_of(["Pulmonary fracture"]) is None  # a tie
    assert specialty_of(["Mystery"]) is None


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("The final diagnosis was Castleman disease, based on biopsy.", "Castleman disease"),
        (
            "He was finally diagnosed with acute intermittent porphyria and started on haemin.",
            "Acute intermittent porphyria",
        ),
        ("A diagnosis of neurofibromatosis, type 1 was made.", "Neurofibromatosis, type 1"),
        ("Histology confirmed the diagnosis of a giant cell tumour of bone.", "Giant cell tumour of bone"),
        ("Final diagnosis: Whipple disease (WD).", "Whipple disease"),
        ("Erdheim-Chester disease", "Erdheim-Chester disease"),
        ("The diagnosis was difficult.", None),
        ("A diagnosis was made.", None),
        ("The initial diagnosis was gout.", None),
    ],
)
def test_the_diagnosis_is_found(sentence, name):
    assert find_diagnosis([Sentence(sentence, "diagnosis", 0)]) == name


def test_differentials_are_found():
    said = [
        Sentence(
            "The differential diagnoses of such masses include lymphoma, sarcoidosis (stage I), and tuberculosis.",
            "discussion",
            0,
        ),
        Sentence("It should be distinguished from thymoma or teratoma.", "discussion", 0),
        Sentence("Gout and mumps were ruled out by biopsy.", "discussion", 0),
        Sentence("It is common, cheap and good.", "discussion", 0),
    ]
    assert find_differentials(said) == [
        "Lymphoma",
        "Sarcoidosis",
        "Tuberculosis",
        "Thymoma",
        "Teratoma",
        "Gout",
        "Mumps",
    ]


def test_abbreviations_are_expanded():
    assert expand_abbreviation("PTB", ["A girl with pancreatic tuberculosis (PTB)."]) == "Pancreatic tuberculosis"
    assert (
        expand_abbreviation("GIST", ["We saw a gastrointestinal stromal tumour (GIST)"])
        == "Gastrointestinal stromal tumour"
    )
    assert expand_abbreviation("XYZ", ["A girl (XYZ)"]) == "XYZ"
    assert expand_abbreviation("Gout", ["Gout (G)"]) == "Gout"
    assert find_abbreviations("Pancreatic tuberculosis", ["a pancreatic tuberculosis (PTB) and (CT)"]) == ["PTB"]


def test_marks_are_stripped():
    assert role_of(["Case presentation", "Diagnostic assessment"]) == "tests"
    assert role_of(["Case presentation", "Final diagnosis"]) == "diagnosis"
    assert role_of(["Case presentation"]) == "patient"
    assert role_of(["Therapeutic intervention"]) == "treatment"
    assert strip_marks("A mass (Fig. ⟦F1⟧ and ⟦F2⟧) was seen.") == "A mass was seen."
    assert strip_marks("Figure ⟦F1⟧ shows a mass.") == "The image shows a mass."
    assert strip_marks("A mass (arrow, Fig. ⟦F1⟧) was seen in Figure ⟦F2⟧.") == "A mass (arrow) was seen in the image."
