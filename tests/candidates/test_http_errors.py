"""What errors of model servers mean, in the words of real servers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from wardround.candidates.candidate import Fault, QuestionRefused, RateLimited, RequestRejected, ServerLimits
from wardround.candidates.http.errors import parse_error, parse_limits, seconds_of


def raised(status: int, error: Any, headers: dict[str, str] | None = None, *, with_images: bool = True) -> Exception:
    """What an error with this content of `error` raises."""
    parsed = parse_error(status, headers or {}, orjson.dumps({"error": error}))
    try:
        parsed.raise_unless_specific()
        parsed.raise_for_question(with_images=with_images)
    except Exception as exception:
        return exception
    raise AssertionError


QUESTIONS = [
    (400, "content_filter", {"code": "content_filter", "message": "The response was filtered"}),
    (400, "content_filter", {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}, "message": "no"}),
    (403, "content_filter", {"message": "Your request was flagged by our moderation system"}),
    (400, "content_filter", {"message": "Input data may contain inappropriate content. (data_inspection_failed)"}),
    (
        400,
        "too_long",
        {"message": "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"},
    ),
    (400, "too_long", {"code": "context_length_exceeded", "message": "Please reduce the length of the messages."}),
    (
        400,
        "too_long",
        {
            "message": "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context "
            "length is 4096 tokens and your request has 3500 input tokens"
        },
    ),
    (400, "too_long", {"message": "prompt is too long: 210000 tokens > 200000 maximum"}),
    (400, "too_long", {"message": "the request exceeds the available context size, try increasing it"}),
    (400, "image_too_large", {"message": "image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes"}),
    (400, "image_too_large", {"message": "At most 4 image(s) may be provided in one request."}),
    (400, "image_too_large", {"message": "Image size 21.5MB exceeds the limit of 20MB"}),
    (400, "image_too_large", {"message": "Please use fewer than 3600 images in your request"}),
    (400, "image_too_large", {"message": "too many total images and documents: 101 + 0 > 100"}),
    (
        400,
        "image_too_large",
        {
            "message": "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed "
            "max allowed size for many-image requests: 2000 pixels"
        },
    ),
    (413, "image_too_large", {"message": "Request Entity Too Large"}),
]


@pytest.mark.parametrize(("status", "finish", "error"), QUESTIONS)
def test_a_refusal_of_the_question_is_its_outcome(status, finish, error):
    exception = raised(status, error)
    assert isinstance(exception, QuestionRefused)
    assert exception.finish == finish


def test_too_large_without_an_image_is_too_long():
    exception = raised(413, "Payload Too Large", with_images=False)
    assert isinstance(exception, QuestionRefused)
    assert exception.finish == "too_long"


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, "invalid key", "HTTP 401"),
        (402, "pay first", "quota"),
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}, "quota"),
    ],
)
def test_a_refused_key_or_quota_stops_the_candidate_after_a_few(status, error, kind):
    fault = raised(status, error)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.stops_after) == (kind, 3)


def test_limits_are_no_faults_of_the_server():
    assert isinstance(raised(429, "slow down"), RateLimited)
    assert isinstance(raised(529, "overloaded"), RateLimited)
    limited = raised(503, "busy", {"Retry-After": "4"})
    assert isinstance(limited, RateLimited)
    assert limited.retry_after == 4
    fault = raised(503, "busy")
    assert isinstance(fault, Fault)
    assert not isinstance(fault, RateLimited)


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_another_refusal_is_a_declined_request(status):
    assert isinstance(raised(status, "no such thing"), RequestRejected)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use another."),
        ("temperature", "'temperature' does not support 0.0 with this model. Only the default (1) value is supported."),
        ("top_k", "Unrecognized request argument supplied: top_k"),
        ("top_k", "top_k: Extra inputs are not permitted"),
        ("logprobs", "This model does not support the 'logprobs' parameter"),
        ("chat_template_kwargs", 'Unknown name "chat_template_kwargs": Cannot find field (unexpected field)'),
    ],
)
def test_a_field_that_the_server_does_not_take_is_recognised(field, message):
    assert parse_error(400, {}, orjson.dumps({"error": {"message": message}})).does_not_take(field)


def test_a_message_about_the_length_names_no_field():
    message = QUESTIONS[6][2]["message"]
    error = parse_error(400, {}, orjson.dumps({"error": {"message": message}}))
    assert not error.does_not_take("max_tokens")
    assert error.largest_allowed("max_tokens") is None


@pytest.mark.parametrize(
    ("field", "message", "limit"),
    [
        ("top_logprobs", "Invalid value for 'top_logprobs': must be less than or equal to 5.", 5),
        ("top_logprobs", "top_logprobs must be between 0 and 5, got 20", 5),
        ("n", "n must be at most 8", 8),
        ("n", "Value error, n should be <= 8, got 20", 8),
        ("n", "n is not allowed", None),
    ],
)
def test_the_largest_allowed_value_is_read(field, message, limit):
    assert parse_error(400, {}, orjson.dumps({"error": {"message": message}})).largest_allowed(field) == limit


def test_limits_are_read_from_headers():
    headers = {
        "X-RateLimit-Remaining-Requests": "3",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "120ms",
    }
    assert parse_limits(headers) == ServerLimits(3, 300.0, 149984, 0.12)  # no wait is longer than five minutes
    assert parse_limits({"content-type": "text/plain"}) is None
    assert parse_limits({"x-ratelimit-remaining-requests": "many"}) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), ("1.5s", 1.5), ("1m2s", 62.0), ("250ms", 0.25), ("nan", None), ("soon", None), ("-3", 0.0)],
)
def test_durations(text, seconds):
    assert seconds_of(text) == seconds
