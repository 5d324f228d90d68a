"""Which texts reveal an answer, and which do not."""

from __future__ import annotations

import pytest

from wardround.building.audit.leaks import find_leaks
from wardround.building.audit.mentions import find_mention, split_words
from wardround.core.case import Case

LONG = "Idiopathic multicentric Castleman disease with thrombocytopenia"
MENTIONS = [
    ("Crohn's disease", "She was told of Crohn disease in 2010.", "leak_name"),
    ("Oesophageal carcinoma", "esophageal carcinomas were seen", "leak_name"),
    ("Carcinoma of the lung", "a lung carcinoma", "leak_words"),
    ("Systemic lupus erythematosus (SLE)", "SLE was suspected", "leak_name"),
    ("MS", "MS since 2001", "leak_name"),
    ("MS", "a delay of 20 ms", None),
    ("Pneumonia", "bronchopneumonia", None),
    ("Yes", "yes, she did", None),
    ("Left", "the left lung", None),
    ("Type 2", "type 2 endoleak", None),
    # five content words: four of them are 0.8
    (LONG, "idiopathic and multicentric disease of Castleman", "leak_words"),
    (LONG, "idiopathic disease of Castleman", None),
    # the first and the last of twelve tokens, and of thirteen
    ("Gastric lymphoma", "gastric b c d e f g h i j k lymphoma", "leak_words"),
    ("Gastric lymphoma", "gastric b c d e f g h i j k l lymphoma", None),
]


@pytest.mark.parametrize(("name", "text", "kind"), MENTIONS)
def test_a_mention_of_the_answer_is_classified(name, text, kind):
    assert find_mention(name, split_words(text)) == kind


def leaks(**fields):
    question = {"id": "q", "kind": "choice", "prompt": "What is it?", "options": ["Gout", "Lupus"], "gold": 0}
    case = {"id": "one", "questions": [question | fields.pop("question", {})], **fields}
    return [(finding.kind, finding.what) for finding in find_leaks([Case.model_validate(case)])]


def test_a_wrong_option_in_the_text_is_no_leak():
    assert leaks(history="Her mother has lupus.") == []


def test_a_text_that_names_every_option_is_no_leak():
    assert leaks(question={"prompt": "Is it gout or lupus?"}) == []
    assert [kind for kind, _ in leaks(question={"prompt": "Why gout?"})] == ["leak_name"]


def test_every_shown_field_is_read():
    shown = {
        "history": {"history": "gout"},
        "findings": {"findings": "gout"},
        "images[0].findings": {"images": [{"path": "a.png", "findings": "gout"}]},
        "tellings.text.history": {"tellings": {"text": {"history": "gout"}}},
    }
    for field, case in shown.items():
        assert leaks(**case) == [("leak_name", f"{field} names 'Gout'")]
    assert leaks(origin={"name": "gout"}) == []  # never shown


def test_synonyms_of_an_open_question_count_for_the_choice():
    questions = [
        {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": ["Gout", "Lupus"], "gold": 0},
        {"id": "open", "kind": "open", "prompt": "What?", "gold": "gout", "accept": ["podagra"]},
    ]
    case = Case.model_validate({"id": "one", "history": "Podagra in the family.", "questions": questions})
    assert [(finding.kind, finding.question) for finding in find_leaks([case])] == [
        ("leak_name", "mcq"),
        ("leak_name", "open"),
    ]


def test_the_prompt_before_in_a_chain_is_read_and_degraded_twins_are_not():
    choice = {"kind": "choice", "options": ["Gout", "Lupus"], "gold": 0}
    questions = [
        {"id": "first", "kind": "choice", "prompt": "Why gout?", "options": ["red", "blue"], "gold": 0},
        {"id": "second", "prompt": "Which?", "chain": "c", "given": ["first"], **choice},
        {"id": "twin", "prompt": "Why gout?", "of": "second", **choice},
    ]
    case = Case.model_validate({"id": "one", "questions": questions})
    assert [(finding.question, finding.what) for finding in find_leaks([case])] == [
        ("second", "prompt of first names 'Gout'")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "MIM #612164",
        "ORPHA:98756",
        "Orphanet 98756",
        "MONDO_0005148",
        "ICD-10-CM code M10.9",
        "icd10: M10",
        "the id 612164",
    ],
)
def test_the_id_of_a_disease_is_a_leak(text):
    assert [kind for kind, _ in leaks(history=text, disease="OMIM:612164")] == ["leak_id"]


@pytest.mark.parametrize("text", ["HP:0001250", "aged 612164 hours", "ICD was implanted in 2010", "12345 steps"])
def test_other_numbers_and_ids_are_no_leak(text):
    assert leaks(history=text) == []


def test_genes_of_the_answer_are_leaks_and_others_warnings():
    assert [kind for kind, _ in leaks(history="SLC2A9 was read", gene={"symbol": "SLC2A9"})] == ["leak_gene"]
    assert [kind for kind, _ in leaks(history="a variant in the SLC2A9 region")] == ["gene_named"]
    assert [kind for kind, _ in leaks(history="c.1495_1497del was leaks")] == ["gene_named"]
    assert leaks(history="MRI and EEG were normal; CRP 12.") == []


@pytest.mark.parametrize("answer", ["Crohn disease", "Crohn's disease", "Crohn’s disease", "Crohns disease"])
@pytest.mark.parametrize(
    "text", ["Crohns since 2010.", "A crohns flare.", "Crohn’s was known.", "Known Crohn, in remission."]
)
def test_a_person_is_found_with_and_without_an_apostrophe(answer, text):
    question = {"options": [answer, "Ulcerative colitis"]}
    assert [kind for kind, _ in leaks(history=text, question=question)] == ["head_noun"]


def test_the_plural_of_an_organ_is_no_person():
    question = {"options": ["Kidney disease", "Ulcerative colitis"]}
    assert leaks(history="Both kidneys were small. Kidneys had cysts.", question=question) == []
