"""`openai`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, clouds)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import aiohttp
import orjson

from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
)
from wardround.candidates.http.connection import TRANSPORT_ERRORS, Connection
from wardround.candidates.http.errors import STOPS_AFTER, ServerError, parse_error, parse_limits
from wardround.candidates.http.reply_json import NotJson, as_utf8, read_json
from wardround.candidates.openai_text_logprobs import NOT_OFFERED, TextLogprobEndpoint
from wardround.candidates.request_body import PiecewiseBody, chat_messages, sampling_fields
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Identity
from wardround.core.study import CandidateSettings

# finish reasons by which servers say that a filter cut the reply, or that the model declined
FILTERED = {
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "prohibited_content",
    "blocklist",
    "sensitive",
}
DECLINED = {"refusal", "refused"}
# values that switch a filter off: left out for a server that does not know them
NEUTRAL_SAMPLING = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
RENAMED = ("chat_template_kwargs", "max_tokens")  # sent under another name to a server that does not take them
OPTIONAL = ("temperature", "top_p", "top_k", "seed")  # left out, with a warning: the server's defaults then hold


class OpenAI(Candidate):
    """A server of chat completions."""

    def __init__(self, settings: CandidateSettings) -> None:
        self.settings = settings
        self.identity: Identity = settings.identity
        self.supports_multiple = not settings.send_seed
        self.search_mode: str = settings.tools
        self.supports_probes = True
        self.warnings: list[str] = []
        self._connection = connection = Connection(settings)
        self._text_logprobs = TextLogprobEndpoint(settings.model, connection.extra_body, self._complete)
        self.adaptations: list[str] = []
        self._refused_with_n: bytes | None = None  # key of an Ask until it was sent with n = 1
        self._max_n: int | None = None
        self._max_top_logprobs: int | None = None
        self._accepted_fields: set[str] = set()
        self._url, self._completions_url = connection.url("/chat/completions"), connection.url("/completions")
        self._refused_fields: set[str] = set()  # optional ones that this server does not take
        self._session: aiohttp.ClientSession | None = None

    async def prepare(self, cases: CaseSet) -> None:
        if self._session is None:
            self._session = self._connection.open_session()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def answer(self, request: Request) -> Reply:
        if request.ask.scored_text is not None:
            return await self._text_logprobs.reply(request)
        count = min(len(request.trials), self._max_n or len(request.trials)) if self.supports_multiple else 1
        payload = self._payload(request, count)
        status, headers, body = await self._post(_piecewise(payload, request.images))
        if status != 200:
            self._fail(self._error(status, headers, body), payload, request)
        reply = self.parse_reply(body, request)
        self._accepted_fields |= payload.keys()
        if len(reply.answers) == 1 < count:
            self.supports_multiple = False
        return replace(reply, limits=parse_limits(headers))

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        """The reply in the body of an HTTP 200. A broken body is a Fault; fields of a wrong type count as absent."""
        completion = self._load_object(body)
        choices = completion.get("choices")
        if not isinstance(choices, list) or not choices or not all(_is_well_formed(choice) for choice in choices):
            raise Fault("HTTP 200, but the body contains no choices", kind="no choices")
        failed = [choice for choice in choices if choice.get("error") or choice.get("finish_reason") == "error"]
        if len(failed) == len(choices):
            self._raise_enclosed(failed[0].get("error") or "finish_reason is error", completion.get("usage"))
        choices = [choice for choice in choices if choice not in failed]  # the others are asked again
        choices = sorted(choices, key=lambda choice: _count(choice.get("index")))[: len(request.trials)]
        answers = [self._answer(choice, completion, request) for choice in choices]
        usage = completion["usage"] if isinstance(completion.get("usage"), dict) else None
        if usage is not None and not any(map(_count, usage.values())) and not any(map(_has_content, answers)):
            raise Fault("HTTP 200 with an empty reply that used no tokens", kind="empty reply without usage")
        tokens_in, tokens_out = _tokens(usage or {})
        return Reply(answers, tokens_in, tokens_out)

    async def _complete(self, body: dict[str, Any], *, is_trial: bool) -> dict[str, Any] | None:
        """A plain completion; None if it is a trial and the server does not support it."""
        status, headers, reply = await self._post(PiecewiseBody([orjson.dumps(body)]), self._completions_url)
        if status == 200:
            return self._load_object(reply)
        if is_trial and status in NOT_OFFERED:
            return None
        error = self._error(status, headers, reply)
        error.raise_unless_specific()
        return error.raise_for_question(with_images=False)

    async def _post(self, body: PiecewiseBody, url: str | None = None) -> tuple[int, Any, bytes]:
        assert self._session is not None
        try:
            options = self._connection.request_options
            async with self._session.post(url or self._url, data=body, allow_redirects=False, **options) as response:
                self._connection.check_proxy_status(response.status)
                if 300 <= response.status < 400:
                    target = self._connection.redact(response.headers.get("Location", "nowhere"))
                    raise CandidateUnavailable(
                        f"HTTP {response.status}: base_url redirects to {target}; redirects are not followed"
                    )
                reply = as_utf8(await response.read(), response.headers.get("Content-Type"))
                return response.status, response.headers, reply
        except TRANSPORT_ERRORS as error:
            raise self._connection.failure(error) from None

    def _payload(self, request: Request, count: int) -> dict[str, Any]:
        """The request's JSON, with placeholders for images."""
        ask, sampling = request.ask, request.ask.sampling
        payload: dict[str, Any] = {"model": self.settings.model, "messages": chat_messages(request, image_placeholder)}
        payload |= sampling_fields(sampling)
        if sampling.logprobs:
            top = min(sampling.logprobs, self._max_top_logprobs or sampling.logprobs)
            payload |= {"logprobs": True, "top_logprobs": top, **NEUTRAL_SAMPLING}
        if sampling.reasoning is not None:
            if "chat_template_kwargs" not in self._refused_fields:
                payload["chat_template_kwargs"] = {"enable_thinking": sampling.reasoning}
            else:
                payload["reasoning_effort"] = "medium" if sampling.reasoning else "none"
        if ask.tools:
            payload["tools"] = list(ask.tools)
        if count > 1:
            payload["n"] = count
        if request.seed is not None:
            payload["seed"] = request.seed
        payload |= self._connection.extra_body
        if self.settings.model is None:
            del payload["model"]
        for name in self._refused_fields:
            payload.pop(name, None)
        if "max_tokens" in self._refused_fields and sampling.max_tokens:
            payload["max_completion_tokens"] = sampling.max_tokens
        return payload

    def _fail(self, error: ServerError, payload: dict[str, Any], request: Request) -> NoReturn:
        """Raises what an error means. A field is left out only until it was accepted once."""
        error.raise_unless_specific()
        if error.status in (400, 422) and not error.names_question:
            self._adapt(error, payload, request.ask)
        if request.images and error.takes_no_images:
            raise RequestRejected(f"{error.text} (if it sees no images, say `sees = false`)")
        error.raise_for_question(with_images=bool(request.images))

    def _adapt(self, error: ServerError, payload: dict[str, Any], ask: Ask) -> None:
        """Raises RequestAdapted if the request can be sent in a form that the server takes."""
        for name in (name for name in payload if name not in self._accepted_fields):
            limit = error.largest_allowed(name)
            if name == "top_logprobs" and limit is not None and limit < payload[name]:
                self._max_top_logprobs = limit
                raise self._adapted(f"takes at most {limit} top_logprobs", error)
            if name == "n" and limit is not None and 1 < limit < payload[name]:
                self._max_n = limit
                raise self._adapted(f"takes n = {limit} at most", error)
            if error.does_not_take(name) and name in self._fields_to_leave_out(ask):
                self._refused_fields |= {"logprobs", "top_logprobs"} if "logprobs" in name else {name}
                if name in OPTIONAL and name not in (NEUTRAL_SAMPLING if ask.sampling.logprobs else ()):
                    self.warnings.append(f"the server takes no {name}: its own default holds")
                raise self._adapted(f"takes no {name}", error)
        if payload.get("n", 1) > 1 and "n" not in self._accepted_fields:
            self.supports_multiple, self._refused_with_n = False, ask.key
            raise self._adapted("may take only one completion a request", error)
        if ask.key == self._refused_with_n:  # refused with n = 1, too: n was not the reason
            self.supports_multiple, self._refused_with_n = True, None

    @staticmethod
    def _fields_to_leave_out(ask: Ask) -> tuple[str, ...]:
        by_logprobs = ("logprobs", "top_logprobs", *NEUTRAL_SAMPLING) if ask.sampling.logprobs else ()
        return (*RENAMED, *OPTIONAL, *by_logprobs)

    def _adapted(self, adaptation: str, error: ServerError) -> RequestAdapted:
        if adaptation not in self.adaptations:
            self.adaptations.append(adaptation)
        return RequestAdapted(f"{adaptation}: {error.message}")

    def _error(self, status: int, headers: Any, body: bytes) -> ServerError:
        error = parse_error(status, headers, body)
        return replace(error, message=self._one_line(error.message))

    def _load_object(self, body: bytes) -> dict[str, Any]:
        try:
            completion = read_json(body)
        except NotJson:
            is_page = body.lstrip()[:1] == b"<"
            stops_after = STOPS_AFTER["not JSON"] if is_page else None
            what = f"an HTML page: {self._one_line(_text_of_page(body))}" if is_page else "not JSON"
            raise Fault(f"HTTP 200, but the body is {what}", kind="not JSON", stops_after=stops_after) from None
        if not isinstance(completion, dict):
            raise Fault("HTTP 200, but the body is no object", kind="not JSON")
        if completion.get("error"):
            self._raise_enclosed(completion["error"], completion.get("usage"))
        return completion

    def _raise_enclosed(self, error: Any, usage: Any) -> NoReturn:
        """Raises for an error inside an HTTP 200: as for the status that it names, or as for a fault."""
        code = error.get("code", error.get("status")) if isinstance(error, dict) else None
        status = int(str(code)) if str(code).isdigit() and 400 <= int(str(code)) < 600 else 500
        enclosed = self._error(status, {}, orjson.dumps({"error": error}))
        enclosed = replace(enclosed, message=f"{enclosed.message} (inside an HTTP 200)")
        try:
            if status != 500 or not enclosed.names_question:
                enclosed.raise_unless_specific()
        except Fault as fault:
            fault.tokens = _tokens(usage if isinstance(usage, dict) else {})
            raise
        enclosed.raise_for_question(with_images=True)

    def _answer(self, choice: dict[str, Any], completion: dict[str, Any], request: Request) -> Answer:
        message = choice["message"]
        return Answer(
            text=_text(message.get("content")),
            finish=_finish(choice.get("finish_reason")),
            reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")) or None,
            tool_calls=tuple(_objects(message.get("tool_calls"))),
            first_token=_first_token(choice) if request.ask.sampling.logprobs else None,
            model=_text(completion.get("model")) or None,
            fingerprint=_text(completion.get("system_fingerprint")) or None,
            refusal=_text(message.get("refusal")) or None,
            images=request.image_hashes,
        )

    def _one_line(self, message: str) -> str:
        """Redacted before it is cut, so that no part of a secret is left."""
        return " ".join(self._connection.redact(message).split())[:300]


def image_placeholder(image: EncodedImage) -> str:
    return f"@image:{image.sha256}@"


def _is_well_formed(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in _objects(content))
    return content if isinstance(content, str) else ""


def _objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _count(number: Any) -> int:
    return number if isinstance(number, int) and number > 0 else 0


def _first_token(choice: dict[str, Any]) -> tuple[tuple[str, float], ...] | None:
    logprobs = choice.get("logprobs")
    content = _objects(logprobs.get("content")) if isinstance(logprobs, dict) else []
    if not content:
        return None
    return tuple(
        (entry["token"].replace("Ġ", " "), float(entry["logprob"]))  # the space of byte-level tokenizers, if left raw
        for entry in _objects(content[0].get("top_logprobs"))
        if isinstance(entry.get("token"), str) and isinstance(entry.get("logprob"), int | float)
    )


def _piecewise(payload: dict[str, Any], images: Sequence[EncodedImage]) -> PiecewiseBody:
    """Images are sent from memory as they are: encoding or copying 200 kB would take most of the time of a call."""
    rest = orjson.dumps(payload)
    pieces = []
    for image in images:
        before, _, rest = rest.partition(image_placeholder(image).encode())
        pieces += [before, image.base64]
    return PiecewiseBody([*pieces, rest])


def _text_of_page(body: bytes) -> str:
    return re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", "replace"))


def _finish(reason: Any) -> str:
    name = _text(reason).lower()
    if name in FILTERED:
        return "content_filter"
    return "declined" if name in DECLINED else _text(reason) or "stop"


def _has_content(answer: Answer) -> bool:
    return bool(answer.text or answer.reasoning or answer.tool_calls or answer.refusal)


def _tokens(usage: dict[str, Any]) -> tuple[int, int]:
    """Prompt and completion; what the total has above them is reasoning that is billed, too."""
    tokens_in, tokens_out = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return tokens_in, max(tokens_out, _count(usage.get("total_tokens")) - tokens_in)
