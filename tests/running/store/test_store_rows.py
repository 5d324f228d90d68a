"""The outcome of a stored row, by its body."""

from __future__ import annotations

import orjson
import pytest

from wardround.core.ask import Answer, TextLogprob
from wardround.running.store.rows import read_body


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer("A"), "answered"),
        (Answer("", tool_calls=({"id": "c"},)), "answered"),
        (Answer("", finish="length", text_logprob=TextLogprob(-1.0, 2, 3)), "answered"),
        (Answer(" \n", reasoning="because"), "empty"),
        (Answer("", finish="length"), "cut"),
        (Answer("upstream failed", finish="error"), "error"),
        (Answer("", finish="too_long"), "too long"),
        (Answer("", refusal="I cannot help"), "declined"),
    ],
)
def test_an_answer_has_one_outcome(answer: Answer, outcome: str) -> None:
    assert read_body(orjson.dumps(answer.to_dict())) == (answer, outcome)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"{}", b'{"text": 7}', b'{"text": "A", "first_token": 3}'])
def test_a_body_that_is_not_an_answer_is_unreadable(body: bytes) -> None:
    assert read_body(body) == (None, "unreadable")


def test_a_tool_result_is_not_an_answer() -> None:
    assert read_body(orjson.dumps({"result": [1]})) == (None, "tool result")
