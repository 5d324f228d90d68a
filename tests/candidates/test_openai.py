"""`openai`: what is sent, what is made of the reply, and what counts as a fault."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from aiohttp import web
from exam_server import ExamServer
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.candidates.candidate import (
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    RateLimited,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
)
from wardround.candidates.http.address import is_loopback
from wardround.candidates.openai import OpenAI
from wardround.candidates.registry import make_candidate
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Answer, Ask, Identity, ImagePart, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

CASE = Case.model_validate(
    {"id": "c", "questions": [{"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}]}
)
ASK = Ask(Identity("openai", "exam"), Sampling(), (Message("user", ("Which?",)),))
KEY = "sk-very-secret-0123456789abcdef"


def request(
    ask: Ask = ASK, trials: Sequence[int] = (0,), images: tuple[EncodedImage, ...] = (), seed: int | None = None
):
    return Request(ask, CASE, CASE.questions[0], Condition(), (0, 1), tuple(trials), 0, images, seed)


def candidate(url: str, **fields: Any) -> OpenAI:
    return OpenAI(CandidateSettings(name="server", provider="openai", base_url=url, **{"model": "exam"} | fields))


def send(to: OpenAI, *requests: Request) -> list[Reply]:
    """Sends requests one after the other, again after a RequestAdapted."""

    async def go() -> list[Reply]:
        await to.prepare(None)  # type: ignore[arg-type]
        try:
            replies = []
            for request in requests:
                while True:
                    try:
                        replies.append(await to.answer(request))
                        break
                    except RequestAdapted:
                        continue
            return replies
        finally:
            await to.close()

    return asyncio.run(go())


def answers(to: OpenAI, request: Request) -> list[Answer]:
    return send(to, request)[0].answers


def says(**message: Any) -> ExamServer:
    return ExamServer(lambda body, index: {"message": {"role": "assistant", **message}})


def always(status: int, body: Any = None, **headers: str) -> ExamServer:
    text = orjson.dumps(body).decode()
    return ExamServer(replying=lambda *_: web.Response(status=status, text=text, headers=headers))


def test_only_the_settings_of_the_study_are_sent():
    with ExamServer() as server:
        send(candidate(server.url), request())
        sampling = Sampling(temperature=0.7, top_p=0.9, top_k=40, max_tokens=64, stop=("\n", "END"))
        send(candidate(server.url, model=None), request(replace(ASK, sampling=sampling), seed=7))
    plain, full = server.bodies
    messages = [{"role": "user", "content": "Which?"}]
    assert plain == {"model": "exam", "messages": messages}
    assert full == {
        "messages": messages,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "max_tokens": 64,
        "stop": ["\n", "END"],
        "seed": 7,
    }


def test_images_are_data_uris_in_the_place_of_their_parts():
    def encoded(data: bytes) -> EncodedImage:
        return EncodedImage(base64.b64encode(data), "image/png", sha256(data).hexdigest(), 1, 1)

    first, second = encoded(b"first image"), encoded(b"second image")
    parts = [ImagePart("/nowhere", image.sha256, ()) for image in (first, second, first)]
    ask = replace(ASK, messages=(Message("user", ("before", *parts, "after")),))
    with ExamServer() as server:
        (answer,) = answers(candidate(server.url), request(ask, images=(first, second, first)))
    content = server.bodies[0]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "image_url", "image_url", "text"]
    sent = [part["image_url"]["url"] for part in content[1:4]]
    assert sent == [f"data:image/png;base64,{image.base64.decode()}" for image in (first, second, first)]
    assert answer.images == (first.sha256, second.sha256, first.sha256)


def test_extra_body_headers_and_key_are_sent(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", KEY)
    monkeypatch.setenv("EXAM_TENANT", "ward 7")
    with ExamServer() as server:
        send(candidate(server.url), request())
        headers = {"X-Tenant-Key": "$EXAM_TENANT", "X-Study": "plain"}
        extra = {"temperature": 0.1, "guided": {"choice": ["A"]}}
        to = candidate(server.url, api_key_env="EXAM_KEY", headers=headers, extra_body=extra)
        send(to, request(replace(ASK, sampling=Sampling(temperature=1.0))))
    without, with_key = server.headers
    assert "Authorization" not in without
    assert with_key["Authorization"] == f"Bearer {KEY}"
    assert (with_key["X-Tenant-Key"], with_key["X-Study"]) == ("ward 7", "plain")
    assert server.bodies[1]["temperature"] == 0.1
    assert server.bodies[1]["guided"] == {"choice": ["A"]}


REFUSED_SETTINGS = {
    "no address": ({"url": None}, "base_url is required"),
    "no key": ({"api_key_env": "NOT_SET_ANYWHERE"}, "environment variable NOT_SET_ANYWHERE is not set"),
    "a key in the study": ({"headers": {"Authorization": "Bearer x"}}, "looks like a secret"),
    "a key in the address": ({"url": "http://me:word@127.0.0.1/v1"}, "user name or password"),
    "a key with a line break": ({"api_key_env": "BROKEN_KEY"}, "BROKEN_KEY contains a line break"),
    "a header with a line break": ({"headers": {"X-Study": "a\r\nb"}}, "line break"),
}


@pytest.mark.parametrize("kind", REFUSED_SETTINGS)
def test_settings_that_cannot_work_are_refused_at_once(kind, monkeypatch):
    monkeypatch.setenv("BROKEN_KEY", KEY + "\n")
    fields, message = REFUSED_SETTINGS[kind]
    with pytest.raises(WardroundError, match=message) as refused:
        candidate(**{"url": "http://127.0.0.1:9/v1"} | fields)
    assert KEY not in str(refused.value)
    assert "word" not in str(refused.value).replace("password", "")


def test_tools_are_offered_and_tool_calls_kept():
    tool = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    call = {"id": "t1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    said = Message("assistant", (), tool_calls=(call,))
    result = Message("tool", ("found",), tool_call_id="t1")
    ask = replace(ASK, messages=(*ASK.messages, said, result), tools=(tool,))
    with says(content=None, tool_calls=[call]) as server:
        (answer,) = answers(candidate(server.url), request(ask))
    body = server.bodies[0]
    assert body["tools"] == [tool]
    assert body["messages"][1:] == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "found", "tool_call_id": "t1"},
    ]
    assert (answer.text, answer.tool_calls) == ("", (call,))
    assert Answer.from_dict(orjson.loads(orjson.dumps(answer.to_dict()))) == answer


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_fields_are_kept_apart_from_the_text(field):
    with says(content="B", **{field: "because"}) as server:
        (answer,) = answers(candidate(server.url), request())
    assert (answer.text, answer.reasoning, answer.model) == ("B", "because", "exam-model")


def test_content_in_parts_is_joined():
    with says(content=[{"type": "text", "text": "B"}, {"type": "text", "text": ". yes"}]) as server:
        assert answers(candidate(server.url), request())[0].text == "B. yes"


def test_reasoning_is_switched_on_and_off_by_the_chat_template():
    asks = [replace(ASK, sampling=Sampling(reasoning=value)) for value in (True, False, None)]
    with ExamServer() as server:
        send(candidate(server.url), *map(request, asks))
    switches = [body.get("chat_template_kwargs") for body in server.bodies]
    assert switches == [{"enable_thinking": True}, {"enable_thinking": False}, None]


def refusing(name: str):
    """A server that does not know one field of the request."""

    def reply(body: dict[str, Any], number: int) -> web.Response | None:
        if name not in body:
            return None
        return web.json_response({"error": {"message": f"Unrecognized argument: {name}"}}, status=400)

    return reply


def test_a_server_without_the_reasoning_switch_gets_reasoning_effort_from_then_on():
    asks = [replace(ASK, sampling=Sampling(reasoning=value)) for value in (True, False)]
    with ExamServer(replying=refusing("chat_template_kwargs")) as server:
        send(candidate(server.url), *map(request, asks))
    assert ["chat_template_kwargs" in body for body in server.bodies] == [True, False, False]
    assert [body.get("reasoning_effort") for body in server.bodies[1:]] == ["medium", "none"]


def test_a_server_that_wants_max_completion_tokens_gets_them():
    ask = replace(ASK, sampling=Sampling(max_tokens=64))
    with ExamServer(replying=refusing("max_tokens")) as server:
        send(candidate(server.url), request(ask), request(ask))
    assert server.calls == 3
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 64 + 8192, 64 + 8192]


def test_calls_in_flight_when_a_field_is_refused_are_sent_again_without_it():
    asks = [
        replace(ASK, messages=(Message("user", (f"Which {n}?",)),), sampling=Sampling(max_tokens=64)) for n in "123"
    ]

    async def send_at_once(to: OpenAI, server: ExamServer) -> list[Reply | BaseException]:
        await to.prepare(None)  # type: ignore[arg-type]
        try:
            calls = asyncio.gather(*(to.answer(request(ask)) for ask in asks), return_exceptions=True)
            await asyncio.to_thread(server.wait_for, lambda: server.held == len(asks))
            server.release()
            return await calls
        finally:
            await to.close()

    with ExamServer(replying=refusing("max_tokens")) as server:
        server.hold()
        outcomes = asyncio.run(send_at_once(candidate(server.url), server))
    assert [type(outcome) for outcome in outcomes] == [RequestAdapted] * 3


def test_a_redirect_is_not_followed_and_its_target_is_named():
    with (
        always(302, Location="https://elsewhere.example/v1") as server,
        pytest.raises(CandidateUnavailable, match="redirects to https:"),
    ):
        answers(candidate(server.url), request())


def test_log_probabilities_of_the_first_token_are_kept():
    ask = replace(ASK, sampling=Sampling(temperature=1.0, max_tokens=1, logprobs=20))
    with ExamServer(first_token=lambda body: [("A", -0.1), ("ĠB", -2.5)], replying=refusing("min_p")) as server:
        (answer,) = answers(candidate(server.url), request(ask))
    assert answer.first_token == (("A", -0.1), (" B", -2.5))
    body = server.bodies[-1]
    assert (body["logprobs"], body["top_logprobs"], body["repetition_penalty"]) == (True, 20, 1.0)
    assert "min_p" not in body


@pytest.mark.parametrize("several", [True, False, "refused"])
def test_a_server_that_takes_no_n_is_asked_for_one_answer_from_then_on(several):
    with ExamServer(lambda body, index: f"{index}", several=several) as server:
        to = candidate(server.url)
        first, *_ = send(to, request(trials=(0, 1, 2)))
        assert to.supports_multiple is (several is True)
        calls = server.calls
        send(to, request(trials=(0, 1)))
    assert [answer.text for answer in first.answers] == (["0", "1", "2"] if several is True else ["0"])
    assert server.calls == calls + 1
    assert server.bodies[-1].get("n") == (2 if several is True else None)


def test_choices_are_taken_by_index_and_never_more_than_asked():
    choices = [{"index": n, "message": {"content": f"{n}"}} for n in (2, 0, 3, 1)]
    with always(200, {"choices": choices}) as server:
        assert [answer.text for answer in answers(candidate(server.url), request(trials=(4, 7, 9)))] == ["0", "1", "2"]


ERROR_BY_STATUS = {
    **dict.fromkeys((401, 402, 408, 500, 502, 503), Fault),
    **dict.fromkeys((429, 529), RateLimited),
    **dict.fromkeys((400, 403, 404, 422), RequestRejected),
    413: QuestionRefused,
}


@pytest.mark.parametrize("status", ERROR_BY_STATUS)
def test_a_status_other_than_200_raises_its_error(status):
    with (
        always(status, {"error": {"message": "why not"}}) as server,
        pytest.raises(ERROR_BY_STATUS[status], match="why not"),
    ):
        send(candidate(server.url), request())
    assert server.calls == 1


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        (format_datetime(NOW + timedelta(seconds=100), usegmt=True), 100.0),
        (format_datetime(NOW - timedelta(hours=1), usegmt=True), 0.0),
        ("99999", 300.0),
        ("soon", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(monkeypatch, retry_after, seconds):
    monkeypatch.setattr("wardround.candidates.http.errors.time", SimpleNamespace(time=NOW.timestamp))
    with always(429, None, **{"Retry-After": retry_after}) as server, pytest.raises(Fault) as failed:
        send(candidate(server.url), request())
    assert failed.value.retry_after == seconds


def test_only_a_server_that_refuses_the_connection_is_unreachable():
    with ExamServer() as server:
        url = server.url
    with pytest.raises(Fault, match="cannot be reached") as failed:
        send(candidate(url), request())
    assert failed.value.unreachable
    with always(500) as server, pytest.raises(Fault) as failed:
        send(candidate(server.url), request())
    assert not failed.value.unreachable
    for no_address in ("ftp://127.0.0.1/v1", "127.0.0.1:8000/v1", "http://"):
        with pytest.raises((CandidateUnavailable, WardroundError), match="base_url"):
            send(candidate(no_address), request())


@pytest.mark.parametrize("padding", range(230, 300, 7))
def test_a_key_that_the_server_echoes_is_hidden_wherever_a_long_message_is_cut(padding, monkeypatch):
    monkeypatch.setenv("EXAM_KEY", KEY)
    body = {"error": {"message": f"{'x' * padding} bad key {KEY}"}}
    for status, failure in ((500, Fault), (401, Fault), (400, RequestRejected), (200, Fault)):
        with always(status, body) as server, pytest.raises(failure) as failed:
            send(candidate(server.url, api_key_env="EXAM_KEY"), request())
        assert "sk-very" not in str(failed.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
MESSAGES = st.fixed_dictionaries({}, optional=dict.fromkeys(("content", "reasoning", "tool_calls", "role"), JSON))
LOGPROBS = st.fixed_dictionaries({"content": JSON | st.lists(st.fixed_dictionaries({"top_logprobs": JSON}))})
CHOICES = st.fixed_dictionaries(
    {"message": MESSAGES | JSON}, optional={"index": JSON, "finish_reason": JSON, "logprobs": LOGPROBS | JSON}
)
BODIES = JSON | st.fixed_dictionaries(
    {"choices": st.lists(CHOICES | JSON, max_size=3) | JSON}, optional={"usage": JSON, "model": JSON, "error": JSON}
)


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_the_body_of_a_200_is_an_answer_or_a_fault(body):
    """A reply of any shape never breaks the run, and what is taken for an answer can be stored and counted."""
    ask = replace(ASK, sampling=Sampling(logprobs=5))
    try:
        reply = candidate("http://127.0.0.1:9/v1").parse_reply(orjson.dumps(body), request(ask))
    except Fault:
        return
    assert reply.answers
    assert reply.tokens_in + reply.tokens_out >= 0
    for answer in reply.answers:
        assert isinstance(answer.text, str)
        assert isinstance(answer.finish, str)
        assert answer.model is None or isinstance(answer.model, str)
        assert Answer.from_dict(orjson.loads(orjson.dumps(answer.to_dict()))).text == answer.text


def test_loopback_is_recognised_by_the_text_of_the_address():
    here = ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:80/v1", "http://127.9.9.9/v1"]
    away = ["http://10.0.0.1/v1", "https://api.example.org/v1", "http://localhost.example.org/v1", "http://[::2]/v1"]
    odd = ["127.0.0.1:8000/v1", "http://[::1", "", "http://127.0.0.1@evil.example/v1", "http://0.0.0.0/v1"]
    assert [url for url in here if not is_loopback(url)] == []
    assert [url for url in [*away, *odd] if is_loopback(url)] == []


def test_offline_refuses_what_is_not_on_this_machine():
    away = CandidateSettings(name="cloud", provider="openai", base_url="https://api.example.org/v1")
    with pytest.raises(WardroundError, match="candidate 'cloud': the study is offline"):
        make_candidate(away, offline=True)
    make_candidate(away)
    make_candidate(away.model_copy(update={"base_url": "http://127.0.0.1:1/v1"}), offline=True)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "blocked by content_filter", "code": "content_filter"},
        {"message": "Blocked", "type": "content_filter"},
        {"message": "no", "code": "content_policy_violation"},
    ],
)
def test_a_content_filter_inside_a_200_is_a_refusal_of_the_question(error):
    with always(200, {"error": error}) as server, pytest.raises(QuestionRefused) as refused:
        send(candidate(server.url), request())
    assert refused.value.finish == "content_filter"
