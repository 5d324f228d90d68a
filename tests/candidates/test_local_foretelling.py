"""How the embedded model foretells a given text, against its own distributions taken token by token."""

from __future__ import annotations

import pytest
from local_sitting import CASE, ORDER, Sitting, asked

from wardround.asking.probes import FORETELLING
from wardround.candidates.candidate import Request
from wardround.core.ask import Ask, Identity, Message
from wardround.core.condition import Condition

PROMPT = "A man of 54 wakes at night with a red and swollen toe.\n\nAnswer:"


@pytest.fixture(scope="module")
def sitting():
    sat = Sitting()
    yield sat
    sat.close()


def request(text, prompt=PROMPT):
    messages = (Message("user", (prompt,)), Message("assistant", (text,)))
    return Request(
        Ask(Identity("local", "m"), FORETELLING, messages), CASE, CASE.questions[0], Condition(), ORDER, (0,)
    )


def one_by_one(sitting, text):
    """The log-probability of each token from the whole distribution that stands at its place, each asked for anew."""
    forced = sitting.candidate._forced
    prompt, whole = (forced._tokens(each) for each in (PROMPT, f"{PROMPT} {text}"))
    assert whole[: len(prompt)] == prompt
    found = []
    for place in range(len(prompt), len(whole)):
        body = {"prompt": whole[:place], "max_tokens": 1, "logprobs": 60_000, "temperature": 0.0, "cache_prompt": False}
        told = sitting.candidate._server.handle_completions(body)["choices"][0]["logprobs"]["content"][0]
        found.append(next(each["logprob"] for each in told["top_logprobs"] if each["id"] == whole[place]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Gout: ∑", pytest.param("Sjögren – Ménière, of the toe", marks=pytest.mark.slow)])
def test_the_sum_is_that_of_the_distributions_token_by_token(sitting, text):
    (answer,) = sitting.answers(request(text))
    expected = one_by_one(sitting, text)
    assert answer.foretold.logprob == pytest.approx(sum(expected), abs=2e-3)
    assert answer.foretold[1:] == (len(expected), len(text.encode()))
    assert answer.text == ""


def test_what_was_asked_before_changes_nothing(sitting):
    first = sitting.answers(request("Gout of the toe."))
    sitting.answers(request("Gout of both toes, then."))
    assert sitting.answers(request("Gout of the toe.")) == first
    sitting.answers(request("Something else.", "Another prompt. Answer:"))
    sitting.answers(asked("Good morning.", max_tokens=3))
    assert sitting.answers(request("Gout of the toe.")) == first
    assert sitting.answers(asked("Good morning.", max_tokens=3)) == sitting.answers(
        asked("Good morning.", max_tokens=3)
    )


def test_likely_words_are_foretold_better_than_the_same_words_shuffled(sitting):
    own, shuffled = "The patient was admitted to the hospital.", "hospital admitted the to was patient The."
    (likely,), (unlikely,) = (sitting.answers(request(text)) for text in (own, shuffled))
    assert likely.foretold.logprob > unlikely.foretold.logprob + 5


@pytest.mark.slow
def test_a_long_text_is_foretold_in_one_request(sitting):
    text = " ".join(f"On day {day} the fever was {36 + day % 4} degrees." for day in range(40))
    (answer,) = sitting.answers(request(text))
    assert answer.foretold.tokens > 300
    assert answer.foretold.logprob < 0
