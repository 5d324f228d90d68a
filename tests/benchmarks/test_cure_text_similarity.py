"""Similarity of texts: by hand, and against scikit-learn and a plain table of common subsequences."""

from __future__ import annotations

from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from likeness_oracle import common
from sklearn.feature_extraction.text import TfidfVectorizer

from wardround.benchmarks.cure.figures.text_similarity import (
    STOP_WORDS,
    TfIdf,
    content_words,
    cosine,
    jaccard,
    rouge_l,
)

VOCABULARY = ("fever", "cough", "lesion", "the", "of", "nodule", "x1", "Naïve", "no", "mass", "CT", "a")
texts = st.lists(st.sampled_from(VOCABULARY), max_size=14).map(" ".join)


def test_similarities_are_as_by_hand() -> None:
    weights = TfIdf(["Fever and cough.", "Fever of the liver"])
    rare, common = log(3 / 2) + 1, log(3 / 3) + 1  # of two documents: in one, in both
    unseen = log(3 / 1) + 1
    assert weights.vector("The FEVER, cough; cough!") == pytest.approx(
        {
            "fever": common / sqrt(common**2 + (2 * rare) ** 2),
            "cough": 2 * rare / sqrt(common**2 + (2 * rare) ** 2),
        }
    )
    both = cosine(weights.vector("fever cough"), weights.vector("fever rash"))
    assert both == pytest.approx(common**2 / (sqrt(common**2 + rare**2) * sqrt(common**2 + unseen**2)))
    assert jaccard("fever and cough", "the cough, the rash") == pytest.approx(1 / 3)
    # "fever then cough" and "cough with fever then rash": fever then
    assert rouge_l("fever then cough", "cough with fever then rash") == pytest.approx(2 * 2 / (3 + 5))
    for empty in ("", "the of and", "7"):
        assert cosine(weights.vector(empty), weights.vector("fever")) is None
        assert jaccard("fever", empty) is None
    assert rouge_l("", "fever") is None


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=6), texts, texts)
def test_tf_idf_is_scikit_learns(documents: list[str], one: str, other: str) -> None:
    words = sorted({word for text in [*documents, one, other] for word in content_words(text)})
    if not words:
        return
    oracle = TfidfVectorizer(stop_words=sorted(STOP_WORDS), vocabulary=words).fit(documents)
    a, b = oracle.transform([one, other]).toarray()
    weights = TfIdf(documents)
    found = cosine(weights.vector(one), weights.vector(other))
    if a.any() and b.any():
        assert found == pytest.approx(float(a @ b), abs=1e-12)
    else:
        assert found is None


WORDS = st.lists(st.sampled_from(("aa", "bb", "cc", "dd")), min_size=1, max_size=30)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_rouge_l_is_that_of_the_plain_table(a: list[str], b: list[str]) -> None:
    assert rouge_l(" ".join(a), " ".join(b)) == 2 * common(a, b) / (len(a) + len(b))


def test_no_function_word_is_a_medical_word() -> None:
    assert not {"fever", "mass", "left", "right", "acute", "first", "history"} & STOP_WORDS
    assert {"the", "of", "and", "with", "was"} <= STOP_WORDS
