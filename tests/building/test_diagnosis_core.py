"""The core of a diagnosis, and the leaks, redactions and warnings that follow from it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from wardround.building.audit.leaks import find_leaks
from wardround.building.audit.mentions import find_mention, split_words
from wardround.building.text.diagnosis_core import diagnosis_cores, head_noun, with_initials
from wardround.building.text.redact import find_revealed_name, redact_diagnosis
from wardround.core.case import Case, Question

CORES = [
    ("Left renal cell carcinoma (clear cell), stage III", "renal cell carcinoma"),
    ("Non-small cell lung cancer, stage IIIB", "Non-small cell lung cancer"),
    ("NYHA class III heart failure", "heart failure"),
    ("Type 2 diabetes mellitus", "diabetes mellitus"),
    ("Ehlers-Danlos syndrome, vascular type", "Ehlers-Danlos syndrome"),
    ("Diverticulitis complicated by abscess", "Diverticulitis"),
    ("Myocarditis secondary to influenza", "Myocarditis"),
    ("Lung adenocarcinoma pT2aN1M0", "Lung adenocarcinoma"),
    ("Spastic paraplegia 91, autosomal dominant, with or without cerebellar ataxia", "Spastic paraplegia"),
    ("Intellectual developmental disorder, X-linked 112", "Intellectual developmental disorder"),
    ("Cardiomyopathy, dilated, 1A", "Cardiomyopathy, dilated"),
    ("Hodgkin lymphoma, nodular sclerosis, stage IIB", "Hodgkin lymphoma"),
]
WITHOUT_CORE = [
    *("Wilson disease", "Multiple sclerosis", "Right kidney", "Left lower lobe", "Acute pain", "Stage IV carcinoma"),
    *(
        "Pneumonia with empyema",
        "Late-onset Alzheimer disease",
        "Short stature, optic atrophy, and Pelger-Huet anomaly",
    ),
]
PLANTED = [
    ("Acute appendicitis (perforated)", "She was told elsewhere that it was appendicitis."),
    ("Non-small cell lung cancer, stage IIIB", "Non-small cell lung cancer runs through the referral letter."),
    ("Right-sided pheochromocytoma", "A pheochromocytoma had been seen on a scan."),
    ("Diverticulitis complicated by colovesical fistula", "He has been treated for diverticulitis since May."),
    ("Takayasu arteritis (Numano type V)", "The letter asks about arteritis of the Takayasu kind."),
]
NOT_LEAKS = [
    ("Left kidney", "Which kidney is enlarged?"),
    ("Acute heart failure", "The heart was enlarged. Ten days later there was failure to feed."),
    ("Chronic subdural hematoma", "A hematoma of the thigh."),
]


@pytest.mark.parametrize(("name", "core"), CORES)
def test_a_core_has_no_stage_side_cause_or_inheritance(name, core):
    assert diagnosis_cores(name)[-1] == core


@pytest.mark.parametrize("name", WITHOUT_CORE)
def test_a_name_that_would_be_an_organ_a_class_or_a_part_of_a_name_has_no_core(name):
    assert diagnosis_cores(name) == ()


@pytest.mark.parametrize(("name", "text"), PLANTED)
def test_a_text_with_the_core_is_a_leak_and_is_redacted(name, text):
    assert find_mention(name, split_words(text)) is not None
    redacted = redact_diagnosis(text, [name])
    assert redacted.removed == [text]
    assert find_mention(name, split_words(redacted.text)) is None


@pytest.mark.parametrize(("name", "text"), NOT_LEAKS)
def test_a_part_of_the_core_is_no_leak(name, text):
    assert find_mention(name, split_words(text)) is None


def findings(history: str, options: list[str]) -> list[tuple[str, str, str]]:
    question = {"id": "q", "kind": "choice", "prompt": "What is it?", "options": options, "gold": 0}
    case = Case.model_validate({"id": "one", "history": history, "questions": [question]})
    return [(finding.severity, finding.kind, finding.what) for finding in find_leaks([case])]


def test_the_audit_reports_the_core():
    options = ["Acute appendicitis (perforated)", "Gout"]
    expected = "history names 'appendicitis', the core of 'Acute appendicitis (perforated)'"
    assert findings("Her doctor said appendicitis.", options) == [("error", "leak_core", expected)]


def test_a_core_that_a_wrong_option_shares_is_no_leak():
    assert findings("Diabetes mellitus for years.", ["Type 2 diabetes mellitus", "Type 1 diabetes mellitus"]) == []


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("Spastic paraplegia 91, autosomal dominant", "paraplegia"),
        ("Carcinoma of the lung", "carcinoma"),
        ("Cardiomyopathy, dilated, 1A", "cardiomyopathy"),
        ("Marfan syndrome", "marfan"),
        ("Hereditary hemorrhagic telangiectasia syndrome", "telangiectasia"),
        ("Bleeding sinus disorder", None),
        ("Left kidney", None),
    ],
)
def test_the_head_noun_says_what_kind_of_disease_it_is(name, noun):
    assert head_noun(name) == noun


@pytest.mark.parametrize(
    ("answer", "history", "kinds"),
    [
        ("Systemic lupus erythematosus", "With a background of SLE she has chest pain.", ["leak_initials"]),
        ("Takayasu arteritis (type V)", "She was told that this is Takayasu's disease.", ["leak_initials"]),
        ("Fanconi anaemia", "She was told that this is what Fanconi described.", ["head_noun"]),
        ("Systemic lupus erythematosus", "The sled hit her; she has chest pain.", []),
        ("Fanconi anaemia", "Fanconi street is where she lives.", []),  # the first word of a sentence has a capital
    ],
)
def test_initials_and_persons_that_only_the_answer_has_are_warnings(answer, history, kinds):
    question = Question(id="q", kind="choice", prompt="What is it?", options=[answer, "Migraine"], gold=0)
    found = list(find_leaks([Case(id="c", history=history, questions=[question])]))
    assert [(finding.severity, finding.kind) for finding in found] == [("warning", kind) for kind in kinds]


def test_initials_that_a_wrong_option_shares_tell_nothing():
    options = ["Systemic lupus erythematosus", "Superficial leg eczema"]
    question = Question(id="q", kind="choice", prompt="What is it?", options=options, gold=0)
    assert not list(find_leaks([Case(id="c", history="Known SLE.", questions=[question])]))


def test_a_head_noun_that_only_the_answer_has_is_a_warning():
    history = "Progressive ataxia since the age of four."
    assert findings(history, ["Spinocerebellar ataxia 3", "Gout"]) == [
        ("warning", "head_noun", "history has 'ataxia', as only the answer does")
    ]
    assert findings(history, ["Spinocerebellar ataxia 3", "Friedreich ataxia"]) == []
    assert findings("She walks badly.", ["Spinocerebellar ataxia 3", "Gout"]) == []


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Crohn's disease", ["CD"]),
        ("Acute interstitial pneumonia", ["AIP"]),
        ("Renal cell carcinoma (clear cell type), stage III", ["RCC"]),
        ("Sarcoidosis", []),
        ("Cerebral thrombosis", []),  # CT is an examination
    ],
)
def test_initials_give_a_diagnosis_away(name, short):
    assert with_initials([name]) == [name, *short]
    assert all(find_revealed_name(f"Known {letters} for years.", with_initials([name])) for letters in short)
    assert find_revealed_name("CD4 count 300, aip 7, rcc.", with_initials([name])) is None


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("age-related macular degeneration", "Known macular degeneration."),
        ("primary open-angle glaucoma", "On drops for glaucoma."),
        ("proliferative diabetic retinopathy", "Diabetic retinopathy for years."),
    ],
)
def test_a_name_without_its_subtype_gives_a_diagnosis_of_the_eye_away(name, history):
    assert find_revealed_name(history, [name]) == name
    assert find_revealed_name("Blurred vision for a month.", [name]) is None


LEAKS = tomllib.loads((Path(__file__).parent / "planted_leaks.toml").read_text(encoding="utf-8"))["diagnosis"]
USUAL = ["Community-acquired pneumonia", "Tension pneumothorax", "Gout", "Migraine with aura"]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak["name"])
def test_a_sentence_that_gives_a_diagnosis_away_is_reported(leak):
    severities = [severity for severity, _, _ in findings(f"A patient came. {leak['text']}", [leak["name"], *USUAL])]
    assert (severities[:1] or [""]) == [leak["found"]]


def test_most_planted_leaks_are_found_and_no_harmless_sentence_is_an_error():
    leaks = [leak["found"] for leak in LEAKS if leak["is_leak"]]
    assert (leaks.count("error"), leaks.count("warning"), len(leaks)) == (17, 19, 40)
    assert all(leak["found"] != "error" for leak in LEAKS if not leak["is_leak"])
