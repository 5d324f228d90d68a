"""The parser's shortcuts change no reading: what is tried only for some words finds nothing without them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.marking.parser.conclusions import closing, weighing
from wardround.marking.parser.conclusions.meanings import may_decide, option_meanings
from wardround.marking.parser.option_text import option_forms
from wardround.marking.parser.rewording import _may_be_reworded, _reword_phrases
from wardround.marking.parser.words.word_search import WordSearch, grouped

GOLDEN = Path(__file__).parents[2] / "golden"
REPLIES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("odd_replies", "later_replies", "choice/development_2", "choice/development_5")
    for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_phrases_are_replaced_only_in_replies_with_a_word_of_one() -> None:
    untouched = [entry for entry in REPLIES if not any(map(_may_be_reworded, entry["reply"].split()))]
    assert len(untouched) > len(REPLIES) / 3
    for entry in untouched:
        forms = option_forms(entry["options"])
        assert _reword_phrases(entry["reply"], forms) == entry["reply"]


def test_a_sentence_that_matches_a_template_has_one_of_its_parts() -> None:
    matches = 0
    for entry in REPLIES:
        reply = entry["reply"].strip()
        for parts, template in (*closing._CONCLUDING, *closing._ALONE):
            if len(reply) <= closing.MAX_CLOSING and template.fullmatch(reply):
                matches += 1
                assert any(part in reply.lower() for part in parts), (reply, template.pattern)
    assert matches > 50


def test_idioms_are_searched_only_in_sentences_with_a_part_of_one() -> None:
    for entry in REPLIES:
        assert weighing.without_idioms(entry["reply"]) == weighing._IDIOM.sub(" ", entry["reply"])


def test_words_that_tell_no_option_apart_have_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(entry["reply"], option_meanings(tuple(entry["options"]))) for entry in REPLIES[::4]]
    weights = [weighing.weigh(reply, meanings) for reply, meanings in cases]
    undecided = [not may_decide(reply, meanings) for reply, meanings in cases]
    assert sum(undecided) > len(cases) / 10
    monkeypatch.setattr(weighing, "may_decide", lambda text, meanings: True)
    assert [weighing.weigh(reply, meanings) for reply, meanings in cases] == weights


PATTERN = r"\b(?:a|ab|abc(?! d)|ac?|b(?:c|d|e|f|cd)x?|[a-c]{2}z|\||c+|)\b|n't\b|\?|d[|)e]"


@given(st.text("abcdexzn't|? ", max_size=12))
def test_a_grouped_pattern_is_found_where_the_plain_one_is(text: str) -> None:
    assert (re.search(grouped(PATTERN), text) is None) == (re.search(PATTERN, text) is None)


@pytest.mark.parametrize(("text", "is_found"), [("It is NOT asthma", True), ("a knot", False), ("Never.", True)])
def test_a_search_disregards_case(text: str, is_found: bool) -> None:
    assert (WordSearch(r"\b(?:not|never|no|none)\b").search(text) is not None) == is_found
