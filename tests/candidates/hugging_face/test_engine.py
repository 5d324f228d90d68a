"""The batch gives what `transformers` itself gives for each prompt alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_chat_models import picture

from wardround.candidates.transformers.job import ChatTurn, Job, JobFailure, JobResult, TokenSampling

KINDS = ("llama", "llava", "idefics3", "gemma3", "qwen2_5_vl")
PICTURES = tuple(picture(seed).data for seed in range(2))
VOTES = TokenSampling(temperature=1.0, max_tokens=12)
GREEDY = TokenSampling(temperature=0.0, max_tokens=24)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def job(text: str = "Where is it?", images: int = 0, **fields: Any) -> Job:
    return Job((ChatTurn("user", (*PICTURES[:images], text)),), **fields)


def mixed_jobs(kind: str, sampling: TokenSampling = GREEDY) -> list[Job]:
    """Prompts of many lengths, with no image, one or two."""
    most = 1 if kind == "llama" else 3
    return [job("Is it left? " * (1 + 2 * n % 7), n % most, seeds=(n, n + 50), sampling=sampling) for n in range(7)]


def plain_model(folder: Path, kind: str) -> Any:
    import transformers

    make = transformers.AutoModelForCausalLM if kind == "llama" else transformers.AutoModelForImageTextToText
    return make.from_pretrained(folder).eval()


def results(engine: Any, *jobs: Job) -> list[JobResult]:
    return [outcome.result(timeout=120) for outcome in [engine.submit(job) for job in jobs]]


def texts(result: JobResult) -> list[str]:
    return [completion.text for completion in result.completions]


def test_greedy_texts_are_those_of_generate(engine_of: Callable, model_folder: Callable, kind: str) -> None:
    engine, plain = engine_of(kind), plain_model(model_folder(kind), kind)
    jobs = mixed_jobs(kind)
    for request, result in zip(jobs, results(engine, *jobs), strict=True):
        features = engine.model.features(request)
        written = plain.generate(**features.inputs, do_sample=False, max_new_tokens=GREEDY.max_tokens)
        new = written[0, features.tokens :]
        expected = engine.model.tokenizer.decode(new, skip_special_tokens=True)
        assert texts(result) == [expected] * 2
        ended = int(new[-1]) == engine.model.tokenizer.eos_token_id
        assert {completion.finish for completion in result.completions} == {"stop" if ended else "length"}


def test_log_probabilities_are_those_of_one_forward_pass(
    engine_of: Callable, model_folder: Callable, kind: str
) -> None:
    import torch

    engine, plain = engine_of(kind), plain_model(model_folder(kind), kind)
    request = job(images=0 if kind == "llama" else 2, logprobs=10_000, sampling=TokenSampling(max_tokens=1))
    [result] = results(engine, request)
    with torch.inference_mode():
        expected = plain(**engine.model.features(request).inputs).logits[0, -1].log_softmax(-1)
    assert result.first_token is not None
    values = [value for _, value in result.first_token]
    assert values == pytest.approx(expected.sort(descending=True).values.tolist(), abs=1e-3)
    assert result.first_token[0][0] == engine.model.tokenizer.decode([int(expected.argmax())], skip_special_tokens=True)


def test_one_prefill_for_all_votes_gives_the_votes_of_separate_prefills(engine_of: Callable, kind: str) -> None:
    engine = engine_of(kind)
    together = job(images=0 if kind == "llama" else 1, seeds=tuple(range(10)), sampling=VOTES)
    [votes] = results(engine, together)
    alone = [texts(results(engine, replace(together, seeds=(seed,)))[0])[0] for seed in together.seeds]
    assert texts(votes) == alone
    assert len(set(alone)) > 2


def test_the_prompt_of_all_votes_is_read_once(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("llava")
    read, prompts = engine.model.read, []
    monkeypatch.setattr(engine.model, "read", lambda features: prompts.append(features) or read(features))
    results(engine, job(images=1, seeds=tuple(range(10)), sampling=VOTES))
    assert len(prompts) == 1


def test_an_answer_does_not_depend_on_what_else_is_in_the_batch(engine_of: Callable, kind: str) -> None:
    engine = engine_of(kind)
    jobs = mixed_jobs(kind, VOTES)
    together = [texts(result) for result in results(engine, *jobs)]
    assert together == [texts(results(engine, request)[0]) for request in jobs]


def test_requests_join_and_leave_a_running_batch(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short request that comes later ends before the long one that was under way."""
    engine, joined, sizes = engine_of("llama"), threading.Event(), []
    read_next = engine.model.read_next

    def watched(tokens: Any, positions: Any, cache: Any) -> Any:
        sizes.append(len(tokens))
        if len(sizes) == 3:
            assert joined.wait(60)
        return read_next(tokens, positions, cache)

    monkeypatch.setattr(engine.model, "read_next", watched)
    monkeypatch.setattr(type(engine.model), "end_tokens", frozenset())
    long = engine.submit(job("Tell me a story.", sampling=TokenSampling(max_tokens=40)))
    short = engine.submit(job("And another.", sampling=TokenSampling(max_tokens=5)))
    joined.set()
    assert short.result(60).completions[0].tokens == 5
    assert long.result(60).completions[0].tokens == 40
    assert 2 in sizes
    assert sizes[-1] == 1


def test_a_log_likelihood_is_that_of_the_texts_own_tokens(engine_of: Callable, model_folder: Callable) -> None:
    import torch

    engine, plain = engine_of("qwen2_5_vl"), plain_model(model_folder("qwen2_5_vl"), "qwen2_5_vl")
    [result] = results(engine, Job((), scored=("A man of 40.", "A man of 40. The lung is left.")))
    ids = engine.model.tokenizer("A man of 40. The lung is left.", return_tensors="pt")["input_ids"]
    begin = len(engine.model.tokenizer("A man of 40.")["input_ids"])
    with torch.inference_mode():
        logprobs = plain(input_ids=ids).logits[0].log_softmax(-1)
    expected = sum(float(logprobs[place - 1, ids[0, place]]) for place in range(begin, ids.shape[1]))
    assert result.scored is not None
    assert result.scored[0] == pytest.approx(expected, rel=1e-4)
    assert result.scored[1] == ids.shape[1] - begin


def test_a_stop_string_ends_the_text_before_it(engine_of: Callable) -> None:
    engine = engine_of("llava")
    [whole] = results(engine, job(sampling=GREEDY))
    text = whole.completions[0].text
    stop = text[6:9]
    [stopped] = results(engine, job(sampling=replace(GREEDY, stop=("never this", stop))))
    [completion] = stopped.completions
    assert (completion.text, completion.finish) == (text[: text.index(stop)], "stop")
    assert completion.tokens < whole.completions[0].tokens


def test_a_prompt_beyond_the_context_is_too_long(engine_of: Callable) -> None:
    [failure] = results(engine_of("llama"), job("cough " * 200))
    assert isinstance(failure, JobFailure)
    assert failure.kind == "too_long"
    assert failure.message == "the prompt has 1203 tokens, but the model's context holds 512"


def test_a_text_ends_where_the_context_does(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("llama")
    monkeypatch.setattr(type(engine.model), "end_tokens", frozenset())
    [result] = results(engine, job("x" * 480))
    [completion] = result.completions
    assert completion.finish == "length"
    assert result.tokens_in + completion.tokens == 512


@pytest.mark.parametrize("most", [1, 3])
def test_out_of_memory_lowers_the_batch_and_changes_no_answer(
    engine_of: Callable, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    import torch

    engine, largest = engine_of("idefics3"), []
    jobs = mixed_jobs("idefics3", VOTES)
    expected = [texts(result) for result in results(engine, *jobs)]
    read_next = engine.model.read_next

    def small(tokens: Any, positions: Any, cache: Any) -> Any:
        if len(tokens) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        largest.append(len(tokens))
        return read_next(tokens, positions, cache)

    monkeypatch.setattr(engine.model, "read_next", small)
    monkeypatch.setattr(engine, "max_rows", 32)
    lowered = results(engine, *jobs)
    assert [texts(result) for result in lowered] == expected
    assert any("out of memory" in note for result in lowered for note in result.notes)
    assert max(largest) <= most


def test_a_prompt_that_alone_needs_too_much_memory_is_rejected(
    engine_of: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    engine = engine_of("idefics3")
    read = engine.model.read

    def small(features: Any) -> Any:
        if features.tokens > 60:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return read(features)

    monkeypatch.setattr(engine.model, "read", small)
    large, fitting = results(engine, job("a" * 100), job("a", sampling=VOTES))
    assert large == JobFailure("rejected", "the prompt alone needs more memory than the device has")
    assert fitting.completions


def test_more_votes_than_rows_are_answered_in_parts(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("llava")
    request = job(images=1, seeds=tuple(range(10)), sampling=VOTES)
    [expected] = results(engine, request)
    monkeypatch.setattr(engine, "max_rows", 4)
    [parts] = results(engine, request)
    assert texts(parts) == texts(expected)


def test_a_failing_prompt_does_not_touch_the_others(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("llama")
    read = engine.model.read

    def broken(features: Any) -> Any:
        if features.tokens > 100:
            raise RuntimeError("shape mismatch")
        return read(features)

    monkeypatch.setattr(engine.model, "read", broken)
    good, bad = results(engine, job(sampling=VOTES), job("a" * 200))
    assert good.completions
    assert bad == JobFailure("fault", "shape mismatch")


def test_a_cancelled_request_leaves_the_batch(engine_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("llama")
    monkeypatch.setattr(type(engine.model), "end_tokens", frozenset())
    started, cancelled, steps = threading.Event(), threading.Event(), []
    read_next = engine.model.read_next

    def watched(*arguments: Any) -> Any:
        started.set()
        assert cancelled.wait(60)
        steps.append(len(arguments[0]))
        return read_next(*arguments)

    monkeypatch.setattr(engine.model, "read_next", watched)
    abandoned = engine.submit(job(sampling=TokenSampling(max_tokens=400)))
    assert started.wait(60)
    abandoned.cancel()
    cancelled.set()
    results(engine, job(sampling=TokenSampling(max_tokens=3)))
    assert len(steps) < 20
