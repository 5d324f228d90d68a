"""The behaviours of the hostile server, and what wardround must make of each.

The docstring of a behaviour says what the server does; the arguments of its decorator say what comes of it, for a
study of eight cases that is asked one call at a time. docs/runs.md has the table.
"""

from __future__ import annotations

import codecs
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import orjson
from aiohttp import web
from hostile_server import ODD_ONE, Behave, Call, Stage, reply_json

CASES = 8
HALF = 4  # answers after which some behaviours begin


@dataclass(frozen=True)
class Expected:
    """How one start of the study must end. What is neither answered, refused nor failed was not asked any more."""

    answered: int = CASES
    refused: Mapping[str, int] = field(default_factory=dict)  # reason -> answers
    failed: int = 0
    faults: frozenset[str] = frozenset()  # kinds
    adapted: tuple[str, ...] = ()
    stops: str | None = None  # in the reason for which the candidate is given up
    warns: str | None = None  # in a warning
    estimates: bool = False  # whether tokens are our estimate


@dataclass(frozen=True)
class Behaviour:
    name: str
    behave: Behave
    expected: Expected
    study: Mapping[str, Any]  # arguments of write_study
    cases: int
    images: bool
    providers: tuple[str, ...]  # that have such a thing; all if empty
    check: Callable[[Stage], None] | None  # of what the server saw
    also: str  # what wardround does besides
    share: int  # of the questions of a rehearsal, in 10,000; 0 if the behaviour is not about single questions

    @property
    def description(self) -> str:
        return (self.behave.__doc__ or "").rstrip(".")


BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(
    *,
    faults: str | tuple[str, ...] = (),
    answered: int | None = None,
    study: Mapping[str, Any] | None = None,
    cases: int = CASES,
    images: bool = False,
    providers: tuple[str, ...] = (),
    check: Callable[[Stage], None] | None = None,
    also: str = "",
    share: int = 30,
    **expected: Any,
) -> Callable[[Behave], Behave]:
    """Registers a behaviour under the name of its function."""

    def register(behave: Behave) -> Behave:
        name = behave.__name__.replace("_", " ")
        not_answered = sum(expected.get("refused", {}).values()) + expected.get("failed", 0)
        kinds = frozenset({faults} if isinstance(faults, str) else faults)
        outcome = Expected(cases - not_answered if answered is None else answered, faults=kinds, **expected)
        rehearsed = 0 if outcome.stops or outcome.adapted else share
        BEHAVIOURS[name] = Behaviour(
            *(name, behave, outcome, study or {}, cases, images, providers, check, also, rehearsed)
        )
        return behave

    return register


def refused(reason: str, count: int = 1) -> dict[str, int]:
    return {reason: count}


# Rate limits and servers that are busy


def waited(seconds: float) -> Callable[[Stage], None]:
    """Whether, after the call of the odd question, the next came no earlier than that."""

    def check(stage: Stage) -> None:
        assert stage.came_at[ODD_ONE + 1] - stage.came_at[ODD_ONE] >= seconds

    return check


@behaviour(faults="HTTP 429")
def rate_limit(call: Call) -> web.Response:
    """429 for the first two calls of each question."""
    return call.error(429, "Rate limit reached") if call.times <= 2 else call.answer()


@behaviour(faults="HTTP 429", study={"candidate": {"attempts": 3}}, share=0, also="uses up no attempt")
def rate_limit_for_long(call: Call) -> web.Response:
    """429 for the first forty calls, more than a question has attempts."""
    return call.error(429, "Rate limit reached") if call.number <= 40 else call.answer()


@behaviour(faults="HTTP 429", check=waited(1.0), share=2, also="waits as long")
def rate_limit_with_seconds(call: Call) -> web.Response:
    """429 with `Retry-After: 1`, once."""
    return call.error(429, "Slow down", headers={"Retry-After": "1"}) if call.comes_first else call.answer()


@behaviour(
    faults="HTTP 429",
    check=lambda stage: waited(stage.notes["date"] - stage.notes["now"] - 0.01)(stage),
    share=2,
    also="waits as long",
)
def rate_limit_with_date(call: Call) -> web.Response:
    """429 with a Retry-After that is a date, once."""
    if not call.comes_first:
        return call.answer()
    now = time.time()
    call.stage.notes |= {"now": now, "date": int(now + 2)}
    return call.error(429, "Slow down", headers={"Retry-After": formatdate(int(now + 2), usegmt=True)})


LIMITS = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "400ms",
}


@behaviour(faults="HTTP 429", check=waited(0.39), share=2, also="waits as long")
def rate_limit_in_headers(call: Call) -> web.Response:
    """429 with `x-ratelimit-remaining-requests: 0` and the time of the reset, once."""
    return call.error(429, "Rate limit reached", headers=LIMITS) if call.comes_first else call.answer()


@behaviour(check=waited(0.39), share=2, also="waits as long")
def limit_announced(call: Call) -> web.Response:
    """An answer with `x-ratelimit-remaining-requests: 0` and the time of the reset, once."""
    return call.answer(headers=LIMITS if call.comes_first else None)


@behaviour(faults="HTTP 429", cases=90, study={"candidate": {"concurrency": 16}}, share=0, also="spaces the calls")
def bucket_of_requests(call: Call) -> web.Response:
    """30 requests a second, the others get 429 without a time."""
    notes, now = call.stage.notes, time.monotonic()
    tokens = min(30.0, notes.get("tokens", 30.0) + 30.0 * (now - notes.get("last", now)))
    notes |= {"tokens": tokens - (tokens >= 1), "last": now}
    return call.answer() if tokens >= 1 else call.error(429, "Rate limit reached")


@behaviour(faults="HTTP 529")
def overloaded(call: Call) -> web.Response:
    """529 for the first two calls of each question."""
    return call.error(529, "Overloaded", "overloaded_error") if call.times <= 2 else call.answer()


@behaviour(faults="HTTP 503", study={"candidate": {"attempts": 3}}, share=0, also="uses up no attempt")
def busy_with_seconds(call: Call) -> web.Response:
    """503 with Retry-After for the first twenty calls."""
    return call.error(503, "Busy", headers={"Retry-After": "0.01"}) if call.number <= 20 else call.answer()


@behaviour(faults="HTTP 503")
def busy(call: Call) -> web.Response:
    """503 for the first call of each question."""
    return call.error(503, "Service Unavailable") if call.times == 1 else call.answer()


@behaviour(faults="HTTP 500")
def server_error(call: Call) -> web.Response:
    """500 for the first two calls of each question."""
    return call.error(500, "The server had an error") if call.times <= 2 else call.answer()


@behaviour(faults="HTTP 502")
def bad_gateway(call: Call) -> web.Response:
    """502 with an HTML page for the first call of each question."""
    return call.page(502, "Bad Gateway") if call.times == 1 else call.answer()


@behaviour(faults="HTTP 408")
def request_timeout(call: Call) -> web.Response:
    """408 for the first call of each question."""
    return call.error(408, "Request timed out") if call.times == 1 else call.answer()


@behaviour(faults="HTTP 500", failed=1, study={"candidate": {"attempts": 3}}, share=0)
def one_question_breaks_it(call: Call) -> web.Response:
    """500 whenever one question is asked."""
    return call.error(500, "CUDA error") if call.is_odd else call.answer()


@behaviour(faults="HTTP 500", failed=CASES, study={"candidate": {"attempts": 3}}, share=0)
def always_broken(call: Call) -> web.Response:
    """500 for every call."""
    return call.error(500, "The server had an error")


# Keys, money, models


@behaviour(faults="HTTP 401", stops="3 times in a row: HTTP 401", answered=0)
def wrong_key(call: Call) -> web.Response:
    """401 for every call."""
    return call.error(401, "Incorrect API key provided", "invalid_api_key")


@behaviour(faults="HTTP 401", stops="3 times in a row: HTTP 401", answered=HALF)
def revoked_key(call: Call) -> web.Response:
    """401 after four answers."""
    return call.answer() if call.stage.answers < HALF else call.error(401, "This key was revoked")


@behaviour(faults="HTTP 401", share=2)
def key_server_hiccups(call: Call) -> web.Response:
    """401 for one call."""
    return call.error(401, "Could not verify the key") if call.comes_first else call.answer()


@behaviour(faults="quota", stops="3 times in a row: HTTP 402", answered=HALF)
def payment_required(call: Call) -> web.Response:
    """402 after four answers."""
    return call.answer() if call.stage.answers < HALF else call.error(402, "Insufficient credits")


@behaviour(faults="quota", stops="3 times in a row: HTTP 429", answered=HALF)
def insufficient_quota(call: Call) -> web.Response:
    """429 `insufficient_quota` after four answers."""
    if call.stage.answers < HALF:
        return call.answer()
    return call.error(429, "You exceeded your current quota, please check your plan", "insufficient_quota")


@behaviour(faults="quota", stops="3 times in a row: HTTP 403", answered=HALF)
def billing_not_active(call: Call) -> web.Response:
    """403 that speaks of billing, after four answers."""
    return call.answer() if call.stage.answers < HALF else call.error(403, "Billing is not active for this project")


@behaviour(faults="refused", stops="5 questions in a row were refused: HTTP 404", answered=0)
def no_such_model(call: Call) -> web.Response:
    """404 for every call."""
    return call.error(404, "The model `exam` does not exist", "model_not_found")


@behaviour(
    faults="refused",
    stops="5 questions in a row were refused, and one that it had answered before: HTTP 404",
    answered=HALF,
    cases=12,
)
def model_is_withdrawn(call: Call) -> web.Response:
    """404 after four answers."""
    if call.stage.answers < HALF:
        return call.answer()
    return call.error(404, "The model `exam` is no longer available", "model_not_found")


@behaviour(faults="refused", stops="5 questions in a row were refused: HTTP 403", answered=0)
def forbidden(call: Call) -> web.Response:
    """403 for every call."""
    return call.error(403, "Your region is not served")


# Single questions that are refused


def for_one(call: Call, status: int, message: str, code: str | None = None, /, **fields: Any) -> web.Response:
    return call.error(status, message, code, **fields) if call.is_odd else call.answer()


@behaviour(faults="refused", refused=refused("declined"), share=5)
def forbidden_question(call: Call) -> web.Response:
    """403 for one question, without a reason."""
    return for_one(call, 403, "Forbidden")


@behaviour(faults="refused", refused=refused("declined"), share=5)
def question_not_found(call: Call) -> web.Response:
    """404 for one question."""
    return for_one(call, 404, "Not found")


@behaviour(faults="refused", refused=refused("declined"), share=5)
def bad_request_question(call: Call) -> web.Response:
    """400 for one question, without a reason."""
    return for_one(call, 400, "Bad request")


@behaviour(refused=refused("content filter"))
def content_filter_400(call: Call) -> web.Response:
    """400 with an `innererror` of a filter (Azure) for one question."""
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}}
    return for_one(call, 400, "The response was blocked", "content_filter", innererror=inner)


@behaviour(faults="refused", refused=refused("content filter"), share=0)
def first_question_filtered(call: Call) -> web.Response:
    """400 of a content filter for the first question, before any is answered."""
    return call.error(400, "Blocked by the content filter") if call.patient == 0 else call.answer()


@behaviour(refused=refused("content filter"))
def content_filter_403(call: Call) -> web.Response:
    """403 that names moderation, for one question."""
    return for_one(call, 403, "Your input was flagged by moderation")


@behaviour(refused=refused("content filter"))
def content_filter_200(call: Call) -> web.Response:
    """200 whose finish reason is a content filter, for one question; it is charged."""
    return call.answer([""] * call.wanted, finish="filtered") if call.is_odd else call.answer()


@behaviour(refused=refused("declined"), providers=("openai",))
def refusal_text(call: Call) -> web.Response:
    """200 with `message.refusal` for one question; it is charged."""
    if not call.is_odd:
        return call.answer()
    completion = call.completion([""] * call.wanted)
    for choice in completion["choices"]:
        choice["message"] |= {"content": None, "refusal": "I cannot help with that."}
    return reply_json(completion)


@behaviour(refused=refused("declined"))
def refusal_by_finish_reason(call: Call) -> web.Response:
    """200 whose finish reason is a refusal, for one question; it is charged."""
    return call.answer([""] * call.wanted, finish="declined") if call.is_odd else call.answer()


@behaviour(faults="refused", stops="5 questions in a row were refused: HTTP 400", answered=0)
def filters_everything(call: Call) -> web.Response:
    """400 of a content filter for every question."""
    return call.error(400, "The prompt triggered the content management policy", "content_filter")


@behaviour(refused=refused("too long"))
def too_long_openai(call: Call) -> web.Response:
    """400 `context_length_exceeded` for one question."""
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return for_one(call, 400, message, "context_length_exceeded", param="messages")


@behaviour(refused=refused("too long"))
def too_long_vllm(call: Call) -> web.Response:
    """400 in the words of vLLM for one question."""
    message = "The decoder prompt (length 9000) is longer than the maximum model length of 8192."
    return for_one(call, 400, message)


@behaviour(refused=refused("too long"))
def too_long_anthropic(call: Call) -> web.Response:
    """400 in the words of Anthropic for one question."""
    return for_one(call, 400, "prompt is too long: 210000 tokens > 200000 maximum")


@behaviour(refused=refused("too long"), study={"sampling": {"max_tokens": 500}}, also="changes no field")
def max_tokens_over_context(call: Call) -> web.Response:
    """400 "max_tokens is too large ... maximum context length" for one question, in the middle."""
    message = (
        "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's maximum context length is 8192 tokens"
        " and your request has 8100 input tokens."
    )
    return for_one(call, 400, message, param="max_tokens")


@behaviour(refused=refused("too long"))
def request_too_large(call: Call) -> web.Response:
    """413 for one question without images."""
    return for_one(call, 413, "Payload Too Large")


@behaviour(refused=refused("image too large"), images=True)
def image_too_large_413(call: Call) -> web.Response:
    """413 for one question with an image."""
    return for_one(call, 413, "Request Entity Too Large")


@behaviour(refused=refused("image too large"), images=True)
def image_too_large_400(call: Call) -> web.Response:
    """400 that says that one image exceeds 5 MB."""
    return for_one(call, 400, "messages.0.content.1.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes")


@behaviour(faults="refused", stops="say `sees = false`", answered=0, images=True)
def sees_nothing(call: Call) -> web.Response:
    """400 for every question with an image."""
    return call.error(400, "This model does not support image input") if call.has_images else call.answer()


# HTTP 200 that is not an answer


def first_time(call: Call, body: Any) -> web.Response:
    """That body for the first call of each question."""
    return reply_json(body) if call.times == 1 else call.answer()


@behaviour(faults="not JSON", stops="5 times in a row: HTTP 200, but the body is an HTML page", answered=0)
def login_page(call: Call) -> web.Response:
    """200 with an HTML login page for every call."""
    return call.page(200, "Sign in to the hospital network")


@behaviour(faults="not JSON")
def page_now_and_then(call: Call) -> web.Response:
    """200 with an HTML page for the first call of every second question."""
    return call.page(200, "Please wait") if call.times == 1 and call.patient % 2 else call.answer()


@behaviour(faults="HTTP 500")
def error_object(call: Call) -> web.Response:
    """200 with an `error` object for the first call of each question."""
    return first_time(call, call.unpaid() | call.error_body(500, "internal"))


@behaviour(faults="HTTP 429")
def rate_limit_inside(call: Call) -> web.Response:
    """200 with an `error` object of code 429 for the first call of each question."""
    body = call.error_body(429, "Rate limited upstream")
    body["error"]["code"] = 429
    return first_time(call, body)


@behaviour(refused=refused("content filter"))
def content_filter_inside(call: Call) -> web.Response:
    """200 with an `error` object that names a content filter, for one question."""
    if not call.is_odd:
        return call.answer()
    body = call.error_body(400, "Blocked by the content filter", "content_filter")
    body["error"]["code"] = 400
    return reply_json(body)


@behaviour(faults="HTTP 502", providers=("openai",))
def error_in_a_choice(call: Call) -> web.Response:
    """200 with `choices[].error` for the first call of each question."""
    body = call.unpaid()
    body["choices"][0]["error"] = {"code": 502, "message": "provider disconnected"}
    return first_time(call, body)


@behaviour(faults="HTTP 502", providers=("openai",), also="counts its tokens")
def error_that_is_charged(call: Call) -> web.Response:
    """200 with `choices[].error` and a usage, which is charged, for the first call of each question."""
    if call.times > 1:
        return call.answer()
    usage = call.usage(["a beginning that breaks off"])
    call.stage.ledger.charge(usage)
    body = call.stage.wire.answer(["a beginning that breaks off"], usage, "error")
    body["choices"][0]["error"] = {"code": 502, "message": "provider disconnected"}
    return reply_json(body)


@behaviour(
    study={"top": {"trials": 3}}, answered=3 * CASES, providers=("openai",), also="keeps the others, asks for it again"
)
def error_in_one_of_several(call: Call) -> web.Response:
    """200 in which one of three choices is an error; the others are charged."""
    if call.wanted < 3:
        return call.answer([call.text(2 + index) for index in range(call.wanted)])
    completion = call.completion(call.texts[:2])
    failed = {"index": 2, "message": {"role": "assistant", "content": ""}, "finish_reason": "error"}
    return reply_json(completion | {"choices": [*completion["choices"], failed]})


@behaviour(faults="HTTP 500", providers=("openai",))
def error_as_finish_reason(call: Call) -> web.Response:
    """200 with `finish_reason: "error"` for the first call of each question."""
    body = call.unpaid()
    body["choices"][0]["finish_reason"] = "error"
    return first_time(call, body)


@behaviour(faults="no choices", providers=("openai",))
def no_choices(call: Call) -> web.Response:
    """200 with empty `choices` and a usage of 0 for the first call of each question."""
    return first_time(call, call.unpaid() | {"choices": []})


@behaviour(faults="empty reply without usage")
def empty_without_usage(call: Call) -> web.Response:
    """200 with an empty text and a usage of 0 for the first call of each question."""
    return first_time(call, call.stage.wire.answer([""], call.usage([]).__class__(0, 0), "stop"))


@behaviour(faults="no choices", providers=("openai",))
def wrong_types(call: Call) -> web.Response:
    """200 whose choices are of wrong types for the first calls of each question."""
    shapes: list[Any] = [{"0": "A"}, ["A"], [{"message": "A"}], None]
    return reply_json(call.unpaid() | {"choices": shapes[call.times - 1]}) if call.times <= 4 else call.answer()


@behaviour(faults="not JSON")
def no_object(call: Call) -> web.Response:
    """200 with `null`, then a list, for the first calls of each question."""
    return reply_json([None, ["A"]][call.times - 1]) if call.times <= 2 else call.answer()


@behaviour(faults="not JSON")
def truncated_json(call: Call) -> web.Response:
    """200 with half of a reply for the first call of each question."""
    half = orjson.dumps(call.unpaid())[:80]
    return web.Response(body=half, content_type="application/json") if call.times == 1 else call.answer()


# Connections


@behaviour(faults="broken connection")
async def dropped_before_reply(call: Call) -> web.StreamResponse:
    """Breaks the connection before a reply, for the first call of each question."""
    return await call.drop() if call.times == 1 else call.answer()


@behaviour(faults="broken connection")
async def dropped_in_reply(call: Call) -> web.StreamResponse:
    """Breaks the connection in the middle of a reply, for the first call of each question."""
    return await call.drop(orjson.dumps(call.unpaid())[:40]) if call.times == 1 else call.answer()


@behaviour(faults="broken connection", study={"candidate": {"concurrency": 4}}, share=0)
async def reset_under_load(call: Call) -> web.StreamResponse:
    """Resets the first three connections once all three are open."""
    if call.number > 3:
        return call.answer()
    await call.wait_for(lambda: call.stage.calls >= 3)
    return await call.drop()


@behaviour(faults="no reply in time", study={"candidate": {"concurrency": 4, "timeout": 3}}, share=2)
async def no_reply(call: Call) -> web.StreamResponse:
    """Never replies to the first call of one question."""
    return await call.never() if call.comes_first else call.answer()


@behaviour(study={"candidate": {"concurrency": 4}})
async def slow_first_byte(call: Call) -> web.StreamResponse:
    """Replies to one question when all others are answered."""
    if call.is_odd:
        await call.wait_for(lambda: call.stage.answers >= CASES - 1)
    return call.answer()


@behaviour(faults="broken connection")
async def not_http(call: Call) -> web.StreamResponse:
    """Replies with bytes that are not HTTP, to the first call of each question."""
    if call.times > 1:
        return call.answer()
    transport = call.request.transport
    assert transport is not None
    transport.write(b"SSH-2.0-OpenSSH_9.6\r\n")  # type: ignore[attr-defined]
    transport.close()
    return web.StreamResponse()


@behaviour(stops="redirects to", answered=0)
def redirect(call: Call) -> web.Response:
    """302 for every call."""
    return web.Response(status=302, headers={"Location": "https://login.hospital.example/?next=chat"})


@behaviour(faults="not JSON", share=2)
def gzip_bomb(call: Call) -> web.Response:
    """32 MB of zeros in 32 kB of gzip, once."""
    if not call.comes_first:
        return call.answer()
    squeeze = zlib.compressobj(wbits=31)
    body = squeeze.compress(bytes(2**25)) + squeeze.flush()
    return web.Response(body=body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})


@behaviour(share=2)
def much_whitespace(call: Call) -> web.Response:
    """A megabyte of blanks before each answer."""
    return web.Response(body=b" \n" * 2**19 + orjson.dumps(call.completion()), content_type="application/json")


@behaviour(share=2)
def very_long_text(call: Call) -> web.Response:
    """An answer of a million characters to one question."""
    return call.answer([text + " and so on" * 100_000 for text in call.texts]) if call.is_odd else call.answer()


# Encodings


def encoded(call: Call, encode: Callable[[bytes], bytes], charset: str = "", **how: Any) -> web.Response:
    content_type = "application/json" + (f"; charset={charset}" if charset else "")
    return web.Response(body=encode(orjson.dumps(call.completion(**how))), headers={"Content-Type": content_type})


@behaviour()
def byte_order_mark(call: Call) -> web.Response:
    """A byte order mark before each answer."""
    return encoded(call, lambda body: codecs.BOM_UTF8 + body)


@behaviour()
def lone_surrogates(call: Call) -> web.Response:
    """Half of a surrogate pair in each answer."""
    texts, read_as = call.with_ending("SURROGATE"), call.with_ending("\ufffd")
    return encoded(call, lambda body: body.replace(b"SURROGATE", b"\\ud83d"), texts=texts, read_as=read_as)


@behaviour()
def nan_in_json(call: Call) -> web.Response:
    """NaN and Infinity among the fields of each answer."""
    return encoded(call, lambda body: body[:-1] + b',"score":NaN,"cost":-Infinity}')


@behaviour()
def invalid_utf8(call: Call) -> web.Response:
    """A byte in each answer that is not UTF-8."""
    texts, read_as = call.with_ending("BYTE"), call.with_ending("\ufffd")
    return encoded(call, lambda body: body.replace(b"BYTE", b"\xff"), texts=texts, read_as=read_as)


@behaviour()
def utf_16(call: Call) -> web.Response:
    """Answers in UTF-16."""
    return encoded(call, lambda body: body.decode().encode("utf-16"), "utf-16")


@behaviour()
def control_characters(call: Call) -> web.Response:
    """Bare line ends and tabs inside the texts of JSON."""
    texts, read_as = call.with_ending("TAB"), call.with_ending("\t.\n")
    return encoded(call, lambda body: body.replace(b"TAB", b"\t.\n"), texts=texts, read_as=read_as)


# Usage, models, choices


@behaviour(estimates=True)
def no_usage(call: Call) -> web.Response:
    """Answers without usage; they are charged all the same."""
    return call.answer(tells_usage=False)


@behaviour(providers=("openai",), also="counts them")
def hidden_reasoning(call: Call) -> web.Response:
    """200 tokens of reasoning that stand only in `total_tokens`."""
    return call.answer(hidden=200)


@behaviour(warns="named different models", share=0)
def other_model_at_half_time(call: Call) -> web.Response:
    """Names another model after four answers."""
    return call.answer(model="hostile-1" if call.stage.answers < HALF else "hostile-2")


@behaviour(providers=("openai",), also="stores it with the answer")
def other_fingerprint_at_half_time(call: Call) -> web.Response:
    """Reports another `system_fingerprint` after four answers."""
    return call.answer(system_fingerprint="fp_1" if call.stage.answers < HALF else "fp_2")


@behaviour(
    answered=3 * CASES, study={"top": {"trials": 3}}, providers=("openai",), also="asks for the others one by one"
)
def fewer_choices(call: Call) -> web.Response:
    """One choice, however many are asked for."""
    return call.answer([call.text(call.times - 1)])


@behaviour(answered=2 * CASES, study={"top": {"trials": 2}}, providers=("openai",))
def equal_indexes(call: Call) -> web.Response:
    """All choices have the index 0."""
    completion = call.completion()
    for choice in completion["choices"]:
        choice["index"] = 0
    return reply_json(completion)


# Fields that a server does not take


@behaviour(
    answered=3 * CASES,
    study={"top": {"trials": 3}},
    adapted=("may take only one completion a request",),
    providers=("openai",),
)
def refuses_n(call: Call) -> web.Response:
    """400 for a request with n."""
    return call.error(400, "Only one completion choice is allowed") if call.wanted > 1 else call.answer()


@behaviour(answered=10 * CASES, study={"top": {"trials": 10}}, adapted=("takes n = 8 at most",), providers=("openai",))
def refuses_n_over_8(call: Call) -> web.Response:
    """400 for a request with n over 8."""
    if call.wanted > 8:
        return call.error(400, "Invalid value for 'n': must be less than or equal to 8.", param="n")
    start = call.stage.notes.setdefault(call.patient, 0)
    call.stage.notes[call.patient] += call.wanted
    return call.answer([call.text(start + index) for index in range(call.wanted)])


def refuses(call: Call, field_name: str, message: str, code: str = "unsupported_parameter") -> web.Response:
    return call.error(400, message, code, param=field_name) if field_name in call.body else call.answer()


@behaviour(study={"sampling": {"top_k": 20}}, adapted=("takes no top_k",), warns="takes no top_k")
def refuses_top_k(call: Call) -> web.Response:
    """400 for a request with `top_k`."""
    return refuses(call, "top_k", "Unrecognized request argument supplied: top_k")


@behaviour(study={"sampling": {"temperature": 0.7}}, adapted=("takes no temperature",), warns="takes no temperature")
def refuses_temperature(call: Call) -> web.Response:
    """400 for a temperature that is not the default."""
    message = "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is"
    return refuses(call, "temperature", f"{message} supported.", "unsupported_value")


@behaviour(study={"sampling": {"max_tokens": 500}}, adapted=("takes no max_tokens",), providers=("openai",))
def wants_max_completion_tokens(call: Call) -> web.Response:
    """400 for `max_tokens`: it wants `max_completion_tokens`."""
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
    return refuses(call, "max_tokens", f"{message} instead.")


@behaviour(study={"candidate": {"send_seed": True}}, adapted=("takes no seed",), warns="takes no seed")
def refuses_seed(call: Call) -> web.Response:
    """400 for a request with `seed`."""
    return refuses(call, "seed", "seed: Extra inputs are not permitted")


@behaviour(
    study={"sampling": {"top_k": 20}},
    faults="refused",
    stops="5 questions in a row were refused, and one that it had answered before: HTTP 400",
    answered=HALF,
    cases=12,
    also="changes no field",
)
def refuses_top_k_later(call: Call) -> web.Response:
    """400 for a request with `top_k`, after four answers with it."""
    if call.stage.answers < HALF:
        return call.answer()
    return refuses(call, "top_k", "Unrecognized request argument supplied: top_k")


LOGPROBS = {"conditions": {"confidence": ["logprobs"]}, "top": {"trials": 2}}


@behaviour(study=LOGPROBS, answered=3 * CASES, adapted=("takes no logprobs",), providers=("openai",))
def refuses_logprobs(call: Call) -> web.Response:
    """400 for a request with `logprobs`."""
    return refuses(call, "logprobs", "logprobs are not supported by this model")


@behaviour(study=LOGPROBS, adapted=("takes at most 5 top_logprobs",), providers=("openai",))
def refuses_top_logprobs_over_5(call: Call) -> web.Response:
    """400 for `top_logprobs` over 5."""
    if call.body.get("top_logprobs", 0) > 5:
        return call.error(400, "Invalid value for 'top_logprobs': must be less than or equal to 5.")
    completion = call.completion()
    top = [
        {"token": letter, "logprob": value}
        for letter, value in zip("ABCD", (-0.35667, -1.60944, -2.99573, -2.99573), strict=True)
    ]
    completion["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return reply_json(completion)
