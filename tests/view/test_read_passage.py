"""The passage that was read: the words of a reply that alone give the same option."""

from __future__ import annotations

import pytest

from wardround.marking.parser.choice import parse_choice
from wardround.marking.parser.passage import read_passage

OPTIONS = ["glioma", "abscess", "infarct", "metastasis"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("B", "B"),
        ("The rim enhances. Option A is unlikely. The answer is B.", "answer is B."),
        ("Answer: C\nConfidence: 80%", "Answer: C"),
        ("I think a lot.\nabscess", "abscess"),
    ],
)
def test_the_words_that_state_the_option_are_found(reply: str, said: str) -> None:
    passage = read_passage(reply, OPTIONS)
    assert passage is not None
    assert reply[passage.start : passage.end] == said
    assert parse_choice(said, OPTIONS).option == parse_choice(reply, OPTIONS).option


@pytest.mark.parametrize("reply", ["", "I cannot say.", "A or B", "x" * 30_000])
def test_a_reply_without_an_option_has_no_passage(reply: str) -> None:
    assert read_passage(reply, OPTIONS) is None
