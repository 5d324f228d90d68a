"""Each normalisation leaves out what its name says, and nothing else."""

from __future__ import annotations

import pytest

from wardround.core.text import fold, fold_accents, fold_nfkc, option_letter, single_line, strip_accents


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        (single_line, " A\n  b\t c ", "A b c"),
        (single_line, " A b ", "A b"),
        (fold, " Sjögren  Syndrome. ", "sjögren syndrome"),
        (fold, "ﬁbrosis", "fibrosis"),  # casefold unfolds the ligature
        (fold, "H₂O", "h₂o"),
        (fold_nfkc, "H₂O", "h2o"),
        (fold_accents, "Sjögren's Syndrome.", "sjogren syndrome."),
        (fold_accents, "Crohn's", "crohn"),
        (strip_accents, "Müller É", "Muller E"),
    ],
)
def test_a_text_is_folded(function, text, expected):
    assert function(text) == expected


def test_letters_are_followed_by_numbers():
    assert [option_letter(index) for index in (0, 25, 26)] == ["A", "Z", "27"]
