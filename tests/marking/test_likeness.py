"""Likeness of texts, against tables filled cell by cell."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from likeness_oracle import common, distance

from wardround.marking.text_similarity import common_subsequence, eds, levenshtein, rouge_l

TEXTS = st.text(alphabet="abcé ∑", max_size=40)


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_both_are_what_the_whole_table_says(a, b):
    assert common_subsequence(a, b) == common(a, b)
    assert levenshtein(a, b) == levenshtein(b, a) == distance(a, b)


def test_long_texts_too():
    numbers = random.Random(3)
    a, b = ("".join(numbers.choice("acgt") for _ in range(size)) for size in (400, 333))
    assert common_subsequence(a, b) == common(a, b)
    assert levenshtein(a, b) == distance(a, b)


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
def test_by_hand(text, reference, rouge, edit):
    assert rouge_l(text, reference) == pytest.approx(rouge)
    assert eds(text, reference) == pytest.approx(edit)
