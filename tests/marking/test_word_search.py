"""Grouped patterns match what the plain ones match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.marking.parser.words.word_search import WordSearch, grouped

PATTERN = r"\b(?:a|ab|abc(?! d)|ac?|b(?:c|d|e|f|cd)x?|[a-c]{2}z|\||c+|)\b|n't\b|\?|d[|)e]"


@given(st.text("abcdexzn't|? ", max_size=12))
def test_a_grouped_pattern_is_found_where_the_plain_one_is(text: str) -> None:
    assert (re.search(grouped(PATTERN), text) is None) == (re.search(PATTERN, text) is None)


@pytest.mark.parametrize(("text", "is_found"), [("It is NOT asthma", True), ("a knot", False), ("Never.", True)])
def test_a_search_disregards_case(text: str, is_found: bool) -> None:
    assert (WordSearch(r"\b(?:not|never|no|none)\b").search(text) is not None) == is_found
