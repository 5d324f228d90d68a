"""What is read in the words of an article: specialties, diagnoses, abbreviations, sections."""

from __future__ import annotations

import pytest

from wardround.building.distractors.options import NameRelations
from wardround.building.sources.pmc.article import Sentence, mark_references, strip_marks
from wardround.building.sources.pmc.build import _end_stem, _own_candidates
from wardround.building.sources.pmc.differentials import find_differentials
from wardround.building.sources.pmc.disease_phrases import (
    expand_abbreviation,
    find_abbreviations,
    find_other_names,
    names_agree,
)
from wardround.building.sources.pmc.labels import specialty_of
from wardround.building.sources.pmc.sentences import TEST_RESULT, end_stem, role_of
from wardround.building.sources.pmc.statements import read_statement
from wardround.building.sources.pmc.title_phrases import read_title
from wardround.core.names import NO_SYNONYMS


def test_words_decide_the_specialty():
    assert specialty_of(["Acute pancreatitis"]) == "Gastroenterology and Hematology"
    assert specialty_of(["Odontogenic myxoma"]) == "Dentistry"
    assert specialty_of(["Mystery", "Cardiology"]) == "Cardiovascular and Internal Medicine"
    assert specialty_of(["Pulmonary fracture"]) is None  # a tie
    assert specialty_of(["Mystery"]) is None


STATED = [
    ("The final diagnosis was Castleman disease, based on biopsy.", "Castleman disease", "final"),
    ("He was finally diagnosed with acute intermittent porphyria and started on haemin.",
     "Acute intermittent porphyria", "final"),
    ("A diagnosis of neurofibromatosis, type 1 was made.", "Neurofibromatosis, type 1", "firm"),
    ("Histology confirmed the diagnosis of a giant cell tumour of bone.", "Giant cell tumour of bone", "firm"),
    ("Final diagnosis: Whipple disease (WD).", "Whipple disease", "final"),
    ("Cutaneous leishmaniasis was diagnosed.", "Cutaneous leishmaniasis", "firm"),
    ("She developed a rash, and Kawasaki disease was diagnosed.", "Kawasaki disease", "firm"),
    ("Histology confirmed pheochromocytoma.", "Pheochromocytoma", "firm"),
    ("These findings were diagnostic of pulmonary sequestration.", "Pulmonary sequestration", "firm"),
    ("CT showed a pouch, suggestive of jejunal diverticulitis.", "Jejunal diverticulitis", "weak"),
]  # fmt: skip
NOT_STATED = [
    "The diagnosis was difficult.",
    "A diagnosis was made.",
    "The initial diagnosis was gout.",
    "The preoperative diagnosis was gastrointestinal stromal tumor.",
    "He had been diagnosed with psoriasis 30 years ago.",
    "At the age of 28 she was diagnosed with Hodgkin lymphoma.",
    "Essential hypertension had been diagnosed in 2015.",
    "His father was diagnosed with colon cancer.",
    "Three months earlier he had been diagnosed with panic disorder at another hospital.",
    "A diagnosis of sarcoidosis was excluded.",
    "The findings were not consistent with lymphoma.",
]


@pytest.mark.parametrize(("sentence", "name", "firmness"), STATED)
def test_the_stated_diagnosis_is_read_with_its_firmness(sentence, name, firmness):
    assert read_statement(sentence, about_patient=True) == (name, firmness)


@pytest.mark.parametrize("sentence", NOT_STATED)
def test_past_family_suspected_and_excluded_diagnoses_are_not_statements(sentence):
    assert read_statement(sentence, about_patient=True) is None


def test_a_section_may_be_nothing_but_the_name():
    statement = read_statement("Erdheim-Chester disease", about_patient=True, in_diagnosis_section=True)
    assert statement == ("Erdheim-Chester disease", "final")


def test_a_discussion_states_only_what_it_says_of_this_patient():
    general = "The diagnosis of scurvy is made by a low vitamin C."
    assert read_statement(general, about_patient=False) is None
    own = "Our patient was diagnosed with scurvy."
    assert read_statement(own, about_patient=False) == ("Scurvy", "firm")


@pytest.mark.parametrize(
    ("title", "possible", "mistaken"),
    [
        ("Gastric schwannoma mimicking a gastrointestinal stromal tumor: A case report",
         ["Gastric schwannoma"], ["Gastrointestinal stromal tumor"]),
        ("Renal AA amyloidosis as the first sign of a long-standing psoriasis: a case report",
         ["Renal AA amyloidosis", "Long-standing psoriasis"], []),
        ("Therapy-related acute myeloid leukemia eleven years after treatment of Hodgkin lymphoma",
         ["Therapy-related acute myeloid leukemia"], []),
        ("A Right Atrial Mass in a Young Man: An Unexpected Case of Primary Cardiac Angiosarcoma",
         ["Primary Cardiac Angiosarcoma"], []),
    ],
)  # fmt: skip
def test_a_title_tells_the_diagnosis_from_what_it_was_taken_for(title, possible, mistaken):
    names = read_title(title)
    assert (names.possible, names.mistaken) == (possible, mistaken)


def test_names_agree_if_one_is_less_exact():
    assert names_agree("Primary cardiac angiosarcoma", "angiosarcoma", NO_SYNONYMS)
    assert names_agree("Left renal cell carcinoma, stage III", "Renal cell carcinoma (clear cell)", NO_SYNONYMS)
    assert not names_agree("Renal cell carcinoma", "Carcinoma", NO_SYNONYMS)
    assert not names_agree("Hodgkin lymphoma", "Gastric lymphoma", NO_SYNONYMS)


def test_the_stem_ends_at_the_statement_and_what_findings_suggest_is_cut_out():
    said = ["She coughed.", "CT showed a mass with calcification, consistent with thymoma (⟦F1⟧).", "It was resected."]
    sentences = [Sentence(text, part, 0) for text, part in zip(said, ("patient", "tests", "patient"), strict=True)]
    assert [(sentence.text, sentence.part) for sentence in end_stem(sentences, ["Thymoma"])] == [
        ("She coughed.", "patient"),
        ("CT showed a mass with calcification (⟦F1⟧).", "tests"),
        ("It was resected.", "treatment"),
    ]


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
        Sentence("In our patient, the biopsy was decisive and these were excluded.", "discussion", 0),
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
    assert role_of(["Differential diagnosis"]) == "differential"
    assert role_of(["Methods (differential diagnosis, investigations and treatment)"]) == "patient"
    assert role_of(["Patient consent"]) == "other"
    assert strip_marks("A mass (Fig. ⟦F1⟧ and ⟦F2⟧) was seen.") == "A mass was seen."
    assert strip_marks("Figure ⟦F1⟧ shows a mass.") == "The image shows a mass."
    assert strip_marks("A mass (arrow, Fig. ⟦F1⟧) was seen in Figure ⟦F2⟧.") == "A mass (arrow) was seen in the image."
    assert strip_marks("CT (⟦F1⟧: arrow) was done.") == "CT (arrow) was done."


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("A mass (Figure 1) was seen.", "A mass (⟦F1⟧) was seen."),
        ("Figure 1 shows a mass.", "⟦F1⟧ shows a mass."),
        ("figure 1 a mass", "⟦F1⟧ a mass"),
        ("a mass (Fig. 2A)", "a mass (⟦F2⟧)"),
        ("a mass (Figs. 1A–C, 2b and D)", "a mass (⟦F1⟧, ⟦F2⟧)"),
        ("Figs. 1 to 3 show it", "⟦F1⟧, ⟦F2⟧, ⟦F3⟧ show it"),
        ("(Fig. 1; Figure 3)", "(⟦F1⟧, ⟦F3⟧)"),
        ("a mass (Figure 1, 3 cm)", "a mass (⟦F1⟧, 3 cm)"),
        ("Supplementary Figure 1, Fig. S1, Figure 9", "Supplementary Figure 1, Fig. S1, Figure 9"),
        ("configure 1", "configure 1"),
        ("a mass (⟦fig1⟧, ⟦x-fig 2⟧, Fig. 3)", "a mass (⟦fig1⟧, ⟦x-fig 2⟧, ⟦F3⟧)"),
    ],
)
def test_a_figure_that_the_text_numbers_is_marked(text: str, marked: str) -> None:
    ids = {"1": ["F1"], "2": ["F2"], "3": ["F3"]}
    assert mark_references(text, ids) == marked
    assert "the image the" not in strip_marks(marked)


@pytest.mark.parametrize(
    "name",
    [
        "Dementia with Lewy bodies",
        "Eosinophilic granulomatosis with polyangiitis",
        "Thrombocytopenia with absent radii",
        "Pulmonary atresia with intact ventricular septum",
    ],
)
def test_with_may_be_part_of_a_name(name: str) -> None:
    assert read_title(f"{name} in a young man: a case report").possible[0] == name


DRESS = "Drug reaction with eosinophilia and systemic symptoms"


def test_a_name_that_contains_and_stays_whole():
    assert read_statement(f"The final diagnosis was {DRESS.lower()} (DRESS).", about_patient=True) == (DRESS, "final")
    assert read_title(f"{DRESS} after allopurinol: a case report").possible == [DRESS]
    lists = Sentence(
        f"The differential diagnosis includes {DRESS.lower()}, hand, foot and mouth disease and gout.", "discussion", 0
    )
    assert find_differentials([lists]) == [DRESS, "Hand, foot and mouth disease", "Gout"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Granulomatosis with polyangiitis (Wegener's granulomatosis) is rare.", ["Wegener's granulomatosis"]),
        (
            "Granulomatosis with polyangiitis, formerly known as Wegener granulomatosis, is rare.",
            ["Wegener granulomatosis"],
        ),
        ("She had Wegener's disease (now called granulomatosis with polyangiitis).", ["Wegener's disease"]),
        ("Granulomatosis with polyangiitis (stage III) in a man (Fig. 1).", []),
        ("Granulomatosis with polyangiitis (most often of adults) is rare.", []),
    ],
)
def test_the_article_gives_other_and_former_names(text, names):
    assert find_other_names("Granulomatosis with polyangiitis", [text]) == names


def test_a_former_name_of_the_diagnosis_is_neither_in_the_stem_nor_an_option():
    gold, former = "Granulomatosis with polyangiitis", "Wegener granulomatosis"
    sentences = [
        Sentence("A 50-year-old man had nosebleeds.", "patient", 0),
        Sentence("CT showed cavities, consistent with Wegener granulomatosis.", "tests", 0),
        Sentence(f"{gold}, formerly known as {former}, is rare.", "discussion", 1),
    ]
    record = {"title": "A case", "abstract": "", "diagnosis": gold, "names": [gold], "doubt": "", "proposals": []}
    record |= {"sentences": [sentence._asdict() for sentence in sentences]}
    ended = _end_stem(record, NO_SYNONYMS)
    offered = ended | {"candidates": [former, "Sarcoidosis"], "tellings": {"text": "A 50-year-old man."}}

    assert former in ended["names"]
    stem = [sentence["text"] for sentence in ended["sentences"] if sentence["part"] in ("patient", "tests")]
    assert not any("Wegener" in text for text in stem)
    assert _own_candidates(offered, NameRelations(NO_SYNONYMS))[0] == ["Sarcoidosis"]


@pytest.mark.parametrize(
    "text",
    [
        "His temperature was 39.2 °C and he looked ill.",
        "Crackles were heard on auscultation.",
        "Hb 8.1 g/dL.",
        "Colonoscopy was normal.",
        "An echocardiogram was unremarkable.",
    ],
)
def test_quantities_signs_and_procedures_are_test_results(text):
    assert TEST_RESULT.search(text)
    assert not TEST_RESULT.search("A 40-year-old man had pain for three weeks and took no drugs.")
