"""What an HTTP error of a model server means: a fault, a limit, a refused question, or a field it does not take."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from wardround.candidates.candidate import (
    Fault,
    QuestionRefused,
    RateLimited,
    RequestRejected,
    ServerLimits,
)
from wardround.candidates.http.reply_json import NotJson, read_json

MAX_RETRY_AFTER = 300.0
TRANSIENT = {408, 409, 425}  # and all 5xx
LIMITED = {429, 529}  # and 503 with Retry-After
# faults in a row after which a candidate is given up
STOPS_AFTER = {"key": 3, "quota": 3, "not JSON": 5}

BAD_KEY = re.compile(r"api[ _-]?key (is )?(not valid|invalid|expired)|invalid[ _]api[ _]key|API_KEY_INVALID", re.I)
NO_CREDIT = re.compile(r"credit balance is too low", re.I)
QUOTA = re.compile(
    r"insufficient[_ ](quota|balance|credit|fund)|exceeded your current quota|billing|out of credit", re.I
)
FILTERED = re.compile(
    r"content[_ -]?(filter|policy|management|violation)|responsible[_ ]?ai|safety (system|polic|filter|setting)"
    r"|flagged|moderation|prohibited[_ ]content|usage polic|data_inspection",
    re.I,
)
TOO_LONG = re.compile(
    r"context[_ -]?(length|window|size)|maximum (context|model|prompt|input) ?length|(prompt|input|request) is too long"
    r"|too many (input )?tokens|(exceed|longer than|greater than)[^.]{0,60}(max_model_len|context|token limit|tokens)"
    r"|string_above_max_length|reduce the length",
    re.I,
)
IMAGE_TOO_LARGE = re.compile(
    r"image(?:[^.]|\.\d){0,60}(too (large|big|many)|exceed|larger than|dimension|at most|maximum)"
    r"|(at most|fewer than) \d+ image"
    r"|payload size exceeds"
    r"|(too (large|big|many)|exceed|maximum)[^.]{0,60}images?\b|payload too large|request entity too large",
    re.I,
)
NO_IMAGES = re.compile(
    r"(not|n't|no|only)[^.]{0,50}(image|vision|multimodal|multi-modal)[^.]{0,30}(support|input|accept|allow|capab)?"
    r"|(image|image_url|vision|multimodal)[^.]{0,60}(not|n't|un)[ -]?(support|accept|allow|avail|permit)"
    r"|content must be a string|unknown variant `?image_url",
    re.I,
)
REASONING = re.compile(r"thinking|reasoning", re.I)
UNSUPPORTED = re.compile(
    r"(not|n't|no longer|un)[ -]?(be )?(support|recogni[sz]|known|permit|allow|expect|accept|implement|avail|enabl)"
    r"|invalid (field|parameter|argument)|extra (inputs?|fields?)|deprecated|does(n't| not) take|only the default"
    r"|may only be set to",
    re.I,
)
OUT_OF_RANGE = re.compile(r"must be|should be|at most|less than or equal|maximum|up to|exceed|<=|\u2264", re.I)


@dataclass(frozen=True)
class ServerError:
    """A reply that is no answer."""

    status: int
    message: str  # in one line, without secrets
    code: str = ""  # such as `insufficient_quota`
    param: str = ""  # the field that the server complains about
    retry_after: float | None = None
    limits: ServerLimits | None = None

    @property
    def text(self) -> str:
        return f"HTTP {self.status}: {self.message}"

    @property
    def _words(self) -> str:
        return f"{self.code} {self.message}"

    def raise_unless_specific(self) -> None:
        """Raises a fault if the reason is not this request."""
        if self.status == 401 or (self.status == 400 and BAD_KEY.search(self._words)):
            raise Fault(self.text, kind="HTTP 401", stops_after=STOPS_AFTER["key"])
        if self._is_out_of_quota:
            raise Fault(self.text, kind="quota", stops_after=STOPS_AFTER["quota"])
        if self.status in LIMITED or (self.status == 503 and self.retry_after is not None):
            raise RateLimited(self.text, kind=f"HTTP {self.status}", retry_after=self.retry_after, limits=self.limits)
        if self.status in TRANSIENT or self.status >= 500:
            raise Fault(self.text, kind=f"HTTP {self.status}", retry_after=self.retry_after)

    @property
    def _is_out_of_quota(self) -> bool:
        if self.status == 429 and self.code.startswith("RESOURCE_EXHAUSTED") and self.retry_after is not None:
            return False  # Google words a limit a minute as a spent quota, but says when there is more
        is_spent = self.status in (403, 429) and QUOTA.search(self._words)
        return self.status == 402 or bool(is_spent) or (self.status == 400 and bool(NO_CREDIT.search(self.message)))

    def raise_for_question(self, *, with_images: bool) -> NoReturn:
        """Raises what the server says of this question, or that it declines the request."""
        if finish := self._refusal(with_images=with_images):
            raise QuestionRefused(finish, self.text)
        raise RequestRejected(self.text)

    @property
    def names_question(self) -> bool:
        """Whether it complains about the content, not about a field of the request."""
        return self._refusal(with_images=True) is not None

    def _refusal(self, *, with_images: bool) -> str | None:
        if FILTERED.search(self._words):
            return "content_filter"
        if TOO_LONG.search(self._words):
            return "too_long"
        if with_images and (self.status == 413 or IMAGE_TOO_LARGE.search(self._words)):
            return "image_too_large"
        return "too_long" if self.status == 413 else None

    @property
    def takes_no_images(self) -> bool:
        return NO_IMAGES.search(self.message) is not None

    @property
    def names_reasoning(self) -> bool:
        """Whether it complains about how reasoning is switched."""
        return self.status in (400, 422) and REASONING.search(f"{self.param} {self._words}") is not None

    def does_not_take(self, field: str) -> bool:
        """Whether it says that the server does not take a field, or only its default."""
        by_code = self.code.strip() in ("unsupported_parameter", "unsupported_value", "unknown_parameter")
        return self._names(field) and (by_code or UNSUPPORTED.search(self.message) is not None)

    def largest_allowed(self, field: str) -> int | None:
        """The largest value of a field that the message allows, if it names one."""
        if not self._names(field) or not OUT_OF_RANGE.search(self.message):
            return None
        numbers = re.findall(r"(?<![\d.])\d{1,3}(?![\d.]*\d)", self.message.partition(field)[2] or self.message)
        return min((int(number) for number in numbers if int(number) > 0), default=None)

    def _names(self, field: str) -> bool:
        if self.names_question:
            return False
        words = re.escape(field).replace(r"\ ", r"[ _]?")  # also thinking_budget and thinkingBudget
        return self.param == field or re.search(rf"\b{words}\b", self.message, re.I) is not None


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> ServerError:
    """Reads an error; `message` still holds what the server wrote, secrets included."""
    code = param = ""
    retry_after = seconds_of(headers.get("Retry-After"))
    try:
        loaded = read_json(body)
        error: Any = loaded.get("error", loaded) if isinstance(loaded, dict) else loaded
        if isinstance(error, dict):
            code = _word(error.get("code")) or _word(error.get("type")) or _word(error.get("status"))
            param = _word(error.get("param"))
            retry_after = retry_after if retry_after is not None else _google_delay(error.get("details"))
            inner = error.get("innererror")
            code += " " + _word(inner.get("code")) if isinstance(inner, dict) else ""
            error = error.get("message", error)
        message = str(error)
    except NotJson:
        message = body.decode("utf-8", "replace")
    return ServerError(status, message, code, param, retry_after, parse_limits(headers))


def _google_delay(details: Any) -> float | None:
    """The delay after which Google's APIs let a request through; None for a quota of the day."""
    items = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    if any("PerDay" in str(item.get("violations")) for item in items):
        return None
    return next((seconds_of(_word(item["retryDelay"])) for item in items if "retryDelay" in item), None)


def parse_limits(headers: Mapping[str, str]) -> ServerLimits | None:
    """The limits in a reply's headers, such as `x-ratelimit-remaining-requests` and `x-ratelimit-reset-requests`."""
    values = {}
    for name, value in headers.items():
        if "ratelimit" not in name.lower():
            continue
        if match := re.fullmatch(r"(?:x|anthropic)-ratelimit-([a-z]+)-([a-z]+)", name.lower()):
            values[frozenset(match.groups())] = value
    if not values:
        return None
    remaining = {unit: values.get(frozenset(("remaining", unit)), "") for unit in ("requests", "tokens")}
    if not any(value.isdigit() for value in remaining.values()):
        return None
    left = {unit: int(value) if value.isdigit() else None for unit, value in remaining.items()}
    reset = {unit: seconds_of(values.get(frozenset(("reset", unit)))) or 0.0 for unit in ("requests", "tokens")}
    return ServerLimits(left["requests"], reset["requests"], left["tokens"], reset["tokens"])


def seconds_of(text: str | None) -> float | None:
    """A duration: seconds (`7`, `1.5`), `6m0s`, `120ms`, or a date by which it is over."""
    if text is None:
        return None
    seconds: float | None = None
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    if re.fullmatch(r"(?:[\d.]+(?:ms|s|m|h|d))+", text):
        seconds = sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(ms|s|m|h|d)", text))
    else:
        for parse in (float, _until_date, _until_timestamp):
            try:
                seconds = parse(text)
                break
            except (TypeError, ValueError):
                continue
    return None if seconds is None or seconds != seconds else min(max(0.0, seconds), MAX_RETRY_AFTER)


def _until_date(text: str) -> float:
    return parsedate_to_datetime(text).timestamp() - time.time()


def _until_timestamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() - time.time()


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
