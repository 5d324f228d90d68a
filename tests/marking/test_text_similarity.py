"""ROUGE-L and edit-distance similarity, against tables filled cell by cell."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from likeness_oracle import common, distance

from wardround.marking.leakage import eds, rouge_l

TEXTS = st.text(alphabet="abcé ∑", max_size=40)


def rouge_by_table(text: str, reference: str) -> float:
    """For texts whose words are separated by spaces."""
    words, reference_words = text.split(), reference.split()
    shared = common(words, reference_words)
    return 2 * shared / (len(words) + len(reference_words)) if shared else 0.0


def eds_by_table(text: str, reference: str) -> float:
    longer = max(len(text), len(reference))
    return 1 - distance(text, reference) / longer if longer else 1.0


@given(TEXTS.map(lambda text: text.replace("∑", " ")), TEXTS.map(lambda text: text.replace("∑", " ")))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rouge_l_is_that_of_the_whole_table(text, reference):
    assert rouge_l(text, reference) == rouge_l(reference, text) == rouge_by_table(text, reference)


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_edit_distance_similarity_is_that_of_the_whole_table(text, reference):
    assert eds(text, reference) == eds(reference, text) == eds_by_table(text, reference)


def test_long_texts_have_the_values_of_the_whole_table():
    rng = random.Random(3)
    text, reference = (" ".join(rng.choices("acgt", k=size)) for size in (400, 333))
    assert rouge_l(text, reference) == rouge_by_table(text, reference)
    assert eds(text, reference) == eds_by_table(text, reference)


@pytest.mark.parametrize(
    ("text", "reference", "rouge", "edit"),
    [
        ("The gout, it is.", "the GOUT it is", 1.0, 1 - 7 / 16),
        ("kitten", "sitting", 0.0, 1 - 3 / 7),
        ("a b c d", "a x c", 2 * 2 / 7, 1 - 3 / 7),
        ("", "something", 0.0, 0.0),
        ("", "", 0.0, 1.0),
        ("...", "!!!", 0.0, 0.0),
    ],
)
def test_similarities_are_those_by_hand(text, reference, rouge, edit):
    assert rouge_l(text, reference) == pytest.approx(rouge)
    assert eds(text, reference) == pytest.approx(edit)
