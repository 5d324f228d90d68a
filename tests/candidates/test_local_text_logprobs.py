"""Log-likelihood of a text from a local model, against its own distributions token by token."""

from __future__ import annotations

import pytest
from loaded_model import CASE, ORDER, LoadedModel, make_request

from wardround.asking.probes import SCORING
from wardround.candidates.candidate import Request
from wardround.core.ask import Ask, Identity, Message
from wardround.core.condition import Condition

PROMPT = "A man of 54 wakes at night with a red and swollen toe.\n\nAnswer:"


@pytest.fixture(scope="module")
def model():
    model = LoadedModel()
    yield model
    model.close()


def request(text, prompt=PROMPT):
    messages = (Message("user", (prompt,)), Message("assistant", (text,)))
    return Request(Ask(Identity("local", "m"), SCORING, messages), CASE, CASE.questions[0], Condition(), ORDER, (0,))


def one_by_one(model, text):
    """The log-probability of each token, from one request a token for the whole distribution at its place."""
    decoder = model.candidate._text_logprobs
    prompt, whole = (decoder._tokens(content) for content in (PROMPT, f"{PROMPT} {text}"))
    assert whole[: len(prompt)] == prompt
    logprobs = []
    for place in range(len(prompt), len(whole)):
        body = {"prompt": whole[:place], "max_tokens": 1, "logprobs": 60_000, "temperature": 0.0, "cache_prompt": False}
        written = model.candidate._server.handle_completions(body)["choices"][0]["logprobs"]["content"][0]
        logprobs.append(next(entry["logprob"] for entry in written["top_logprobs"] if entry["id"] == whole[place]))
    return logprobs


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Gout: ∑", pytest.param("Sjögren – Ménière, of the toe", marks=pytest.mark.slow)])
def test_the_sum_is_that_of_the_distributions_token_by_token(model, text):
    (answer,) = model.answers(request(text))
    expected = one_by_one(model, text)
    assert answer.text_logprob.logprob == pytest.approx(sum(expected), abs=2e-3)
    assert answer.text_logprob[1:] == (len(expected), len(text.encode()))
    assert answer.text == ""


def test_earlier_requests_change_nothing(model):
    first = model.answers(request("Gout of the toe."))
    model.answers(request("Gout of both toes, then."))
    assert model.answers(request("Gout of the toe.")) == first
    model.answers(request("Something else.", "Another prompt. Answer:"))
    model.answers(make_request("Good morning.", max_tokens=3))
    assert model.answers(request("Gout of the toe.")) == first
    assert model.answers(make_request("Good morning.", max_tokens=3)) == model.answers(
        make_request("Good morning.", max_tokens=3)
    )


def test_a_sentence_is_more_likely_than_its_words_shuffled(model):
    own, shuffled = "The patient was admitted to the hospital.", "hospital admitted the to was patient The."
    (likely,), (unlikely,) = (model.answers(request(text)) for text in (own, shuffled))
    assert likely.text_logprob.logprob > unlikely.text_logprob.logprob + 5


@pytest.mark.slow
def test_a_long_text_is_scored_in_one_request(model):
    text = " ".join(f"On day {day} the fever was {36 + day % 4} degrees." for day in range(40))
    (answer,) = model.answers(request(text))
    assert answer.text_logprob.tokens > 300
    assert answer.text_logprob.logprob < 0
