"""Log-likelihood of a text from a server, by each method that servers support."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import write_cases, write_study
from leaked_cases import leaked_set
from reading_server import echoing, llama_cpp, logprobs, refusing, tokens, vllm, writing_alone

from wardround.asking.probes import SCORING
from wardround.candidates.candidate import Fault, RateLimited, Request, RequestRejected, Unsupported
from wardround.candidates.openai import OpenAI
from wardround.core.ask import Answer, Ask, Identity, Message, TextLogprob
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings
from wardround.pipeline import run_study

PROMPT, TEXT = "A man with a red toe.\n\nAnswer:", "Gout – of Ménière’s toe."
CASE = Case.model_validate({"id": "c", "questions": [{"id": "q", "kind": "open", "prompt": "?", "gold": "gout"}]})


def request(text=TEXT, prompt=PROMPT):
    messages = (Message("user", (prompt,)), Message("assistant", (text,)))
    return Request(Ask(Identity("openai", "m"), SCORING, messages), CASE, CASE.questions[0], Condition(), (), (0,))


def text_logprobs(server, *requests, **settings):
    """The log-likelihoods of requests sent one after another."""

    async def send_all():
        fields = {"name": "m", "provider": "openai", "model": "m", "base_url": server.url, **settings}
        candidate = OpenAI(CandidateSettings(**fields))
        await candidate.prepare(None)
        try:
            return [(await candidate.answer(request)).answers[0].text_logprob for request in requests]
        finally:
            await candidate.close()

    return asyncio.run(send_all())


@pytest.mark.parametrize("reading", [vllm, echoing])
def test_the_sum_is_that_of_the_texts_own_tokens(reading):
    with ExamServer(reading=reading) as server:
        (score,) = text_logprobs(server, request())
    own = len(tokens(f" {TEXT}"))
    assert tokens(f"{PROMPT} {TEXT}") == tokens(PROMPT) + tokens(f" {TEXT}")
    assert score == TextLogprob(pytest.approx(sum(logprobs(f"{PROMPT} {TEXT}")[-own:])), own, len(TEXT.encode()))


@pytest.mark.parametrize("reading", [vllm, echoing])
def test_a_token_across_the_boundary_is_the_texts(reading):
    with ExamServer(reading=reading) as server:
        (score,) = text_logprobs(server, request("ls", "ab"))
        (joined,) = text_logprobs(server, request("", "ab"))
    assert score.tokens == len(tokens("ab ls")) - 1
    assert joined.tokens == 1  # the space alone


@pytest.mark.parametrize(("reading", "trial_count"), [(vllm, 1), (echoing, 2)])
def test_the_method_is_tried_once_and_a_prompt_is_read_once_for_all_its_texts(reading, trial_count):
    with ExamServer(reading=reading) as server:
        text_logprobs(server, request(), request("Something else."), request("Another prompt's.", "Other. Answer:"))
        assert [body["prompt"] for body in server.read[:trial_count]] == ["one two"] * trial_count
        assert len(server.read) == trial_count + 2 + 1 + 2
        assert {body["max_tokens"] for body in server.read} == {1}


@pytest.mark.parametrize("reading", [llama_cpp, writing_alone, refusing, None])
def test_a_server_that_supports_neither_method_is_not_asked_again(reading):
    with ExamServer(reading=reading) as server:

        async def twice():
            candidate = OpenAI(CandidateSettings(name="m", provider="openai", model="m", base_url=server.url))
            await candidate.prepare(None)
            for _ in range(2):
                with pytest.raises(Unsupported, match="neither prompt_logprobs nor echo"):
                    await candidate.answer(request())
            await candidate.close()

        asyncio.run(twice())
        assert len(server.read) == (0 if reading is None else 2)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(503, Fault), (429, RateLimited), (401, Fault), (403, RequestRejected)],
    ids=str,
)
def test_a_server_that_fails_is_not_taken_for_one_without_support(status, expected):
    with (
        ExamServer(reading=lambda body: web.json_response({"error": "no"}, status=status)) as server,
        pytest.raises(expected),
    ):
        text_logprobs(server, request())


def test_a_text_that_is_refused_is_refused_alone():
    def short(body):
        if len(body["prompt"]) > 1000:
            return web.json_response({"error": {"message": "too long for the context"}}, status=400)
        return vllm(body)

    with ExamServer(reading=short) as server:
        with pytest.raises(RequestRejected, match="too long for the context"):
            text_logprobs(server, request("x " * 1000))
        assert text_logprobs(server, request())


@pytest.mark.parametrize("broken", ["not json", '{"choices": []}', '{"choices": [{"prompt_logprobs": [null, {}]}]}'])
def test_a_broken_reply_is_a_fault(broken):
    def second(body):
        return vllm(body) if body["prompt"] == "one two" else web.Response(text=broken, content_type="application/json")

    with ExamServer(reading=second) as server, pytest.raises(Fault):
        text_logprobs(server, request())


def test_a_log_likelihood_is_stored_and_restored():
    answer = Answer("", model="m", text_logprob=TextLogprob(-12.5, 7, 30))
    assert Answer.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer
    assert "foretold" not in Answer("B").to_dict()


PROBES = ["none", "reference", "rationale"]


def examined(tmp_path, server, probes=PROBES):
    write_cases(tmp_path / "cases", leaked_set(4))
    study = write_study(tmp_path, server.url, conditions={"probe": probes})
    return run_study(study, runs=tmp_path / "runs", quiet=True, note=lambda line: None)


def test_a_run_leaves_out_the_probes_that_a_server_does_not_support(tmp_path):
    with ExamServer(reading=llama_cpp) as server:
        ended = examined(tmp_path, server)
        assert server.calls == 8 + 1  # the answer and the rationale of each case, and a sentinel
    assert ended.exit_code == 0
    (warning,) = ended.manifest["warnings"]
    assert warning.startswith("server: the server gives no log-probabilities of a given text")
    assert sum(ended.manifest["inapplicable"].values()) == 4


def test_a_second_run_asks_nothing(tmp_path):
    with ExamServer(reading=vllm) as server:
        first = examined(tmp_path, server)
        asked = len(server.read), server.calls
        again = examined(tmp_path, server)
        assert (len(server.read), server.calls) == asked
    assert first.manifest["warnings"] == again.manifest["warnings"] == []
    files = [(ended.folder / "measures.csv").read_text() for ended in (first, again)]
    assert files[0] == files[1]
    assert "bits_per_byte" in files[0]
