"""The offline judge: what its rules hold for the same, and what they must not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.core.case import Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.names import Synonyms, read_synonyms, same_disease, same_name
from wardround.core.study import JudgeSettings
from wardround.marking.judges.lexical_judge import make_lexical_judge

LONG = "alpha beta gamma delta epsilon zeta eta theta"
SAME = [
    (LONG, f"{LONG} iota"),
    ("Gout", "gout."),
    ("Crohn's disease", "Crohn disease"),
    ("Crohn’s Disease", "crohn disease"),
    ("Carcinoma of the lung", "lung carcinoma"),
    ("haemorrhage", "hemorrhage"),
    ("oesophageal tumour", "esophageal tumor"),
    ("Sjögren syndrome", "Sjogren's syndrome"),
    ("rib fractures", "rib fracture"),
    ("acute myeloid leukemia (AML)", "acute myeloid leukemia"),
    ("acute myeloid leukemia (AML)", "AML"),
    ("ＡＭＬ", "aml"),
    ("pneumonia (bacterial)", "bacterial pneumonia"),
    (
        "community acquired bacterial pneumonia of the middle lobe caused by pneumococcus",
        "community acquired bacterial pneumonia, middle lobe, pneumococcus",
    ),
]
DIFFERENT = [
    ("pneumonia", "bacterial pneumonia"),
    ("pneumonia", "pneumonia (bacterial)"),
    ("renal cell carcinoma", "clear cell renal cell carcinoma"),
    ("small cell lung cancer", "non-small cell lung cancer"),
    ("type 1 diabetes mellitus", "type 2 diabetes mellitus"),
    ("acute pancreatitis", "chronic pancreatitis"),
    ("large B-cell lymphoma", "diffuse large B-cell lymphoma"),
    ("hypothyroidism", "hyperthyroidism"),
    ("Cushing disease", "Cushing syndrome"),
    ("myocardial infarction (MI)", "mitral insufficiency (MI)"),
    ("hepatitis A", "hepatitis B"),
    ("", "gout"),
    ("...", "..."),
    # long names that differ in one word that decides
    (
        "left upper lobe community acquired pneumococcal pneumonia abscess",
        "right upper lobe community acquired pneumococcal pneumonia abscess",
    ),
    (
        "stage 3 metastatic invasive ductal breast carcinoma relapse",
        "stage 4 metastatic invasive ductal breast carcinoma relapse",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one, other):
    assert same_name(one, other)
    assert same_name(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_not_the_same(one, other):
    assert not same_name(one, other)
    assert not same_name(other, one)


def test_six_of_seven_words_are_enough_and_five_of_six_are_not():
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    assert same_name(" ".join(words), " ".join(words[:6]))
    assert not same_name(" ".join(words[:6]), " ".join(words[:5]))


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_rule_does_not_depend_on_who_is_first(one, other):
    assert same_name(one, other) == same_name(other, one)


def test_synonyms_reach_as_far_as_the_table_goes():
    table = Synonyms([("gout", "podagra"), ("podagra", "urate arthritis"), ("tetanus", "lockjaw")])
    assert same_disease("Urate Arthritis", ["Gout"], table)
    assert same_disease("gout", ["urate arthritis"], table)
    assert not same_disease("lockjaw", ["gout"], table)
    assert not same_disease("urate arthritis", ["gout"])


def test_names_accepted_by_the_case_count():
    judge = make_lexical_judge(JudgeSettings(provider="lexical"), Path())
    question = Question(id="q", kind="open", prompt="?", gold="Gout", accept=["podagra"])
    assert judge.same(question, "Podagra") is True
    assert judge.same(question, "lupus") is False
    assert judge.name == "lexical-3"


def test_the_table_is_read_beside_the_study_and_its_hash_is_in_the_name(tmp_path):
    file = tmp_path / "names.csv"
    file.write_text("\ufeffname,same_as,source\ngout,podagra,us\n", encoding="utf-8")
    first = make_lexical_judge(JudgeSettings(provider="lexical", synonyms="names.csv"), tmp_path)
    question = Question(id="q", kind="open", prompt="?", gold="Gout")
    assert first.same(question, "podagra") is True
    file.write_text("name,same_as\ngout,podagra\ngout,toe trouble\n")
    second = make_lexical_judge(JudgeSettings(provider="lexical", synonyms="names.csv"), tmp_path)
    assert first.name.startswith("lexical-3:")
    assert first.name != second.name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name,other\na,b\n", r"names\.csv:1: expected the columns name and same_as"),
        ("name,same_as\ngout,podagra\ngout,\n", r"names\.csv:3: same_as: is empty"),
        ("name,same_as\n...,gout\n", r"names\.csv:2: name: is empty"),
        ("", "expected the columns"),
    ],
)
def test_a_table_that_is_wrong_is_one_line(tmp_path, text, complaint):
    file = tmp_path / "names.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        read_synonyms(file)


def test_the_path_of_a_table_is_text(tmp_path):
    with pytest.raises(WardroundError, match="should be the path of a table, not 7"):
        make_lexical_judge(JudgeSettings(provider="lexical", extra_body={"synonyms": 7}), tmp_path)
