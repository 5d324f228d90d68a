"""`openai`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, clouds)."""

import asyncio
import ipaddress
import os
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

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
    settings_error,
)
from wardround.candidates.openai_text_logprobs import NOT_OFFERED, TextLogprobEndpoint
from wardround.candidates.request_body import PiecewiseBody, chat_messages, sampling_fields
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Identity
from wardround.core.study import CandidateSettings

CONNECT_SECONDS = 5.0
MAX_RETRY_AFTER = 300.0
TRANSIENT_STATUSES = {408, 409, 425, 429}  # and all 5xx
SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie")
# values that switch a filter off: left out for a server that does not know them
NEUTRAL_SAMPLING = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class OpenAI(Candidate):
    """A server of chat completions."""

    def __init__(self, settings: CandidateSettings) -> None:
        self.settings = settings
        self.identity: Identity = settings.identity
        self.supports_multiple = not settings.send_seed
        self.search_mode: str = settings.tools
        self.supports_probes = True
        self.warnings: list[str] = []
        self._text_logprobs = TextLogprobEndpoint(settings, self._complete)
        self._refused_with_n: bytes | None = None  # key of an Ask until it was sent with n = 1
        base = _address(settings).rstrip("/")
        self._url, self._completions_url = f"{base}/chat/completions", f"{base}/completions"
        self._refused_fields: set[str] = set()  # optional ones that this server does not take
        self._secrets: list[str] = []
        self._headers = {"Content-Type": "application/json", **self._study_headers()}
        self._session: aiohttp.ClientSession | None = None

    def _study_headers(self) -> dict[str, str]:
        headers = {}
        for name, value in self.settings.headers.items():
            if value.startswith("$"):
                value = self._from_environment(value[1:])
            elif any(word in name.lower() for word in SECRET_HEADERS):
                advice = 'write "$NAME" and set the environment variable NAME'
                raise settings_error(self.settings, f"header {name!r} looks like a secret; {advice}")
            elif not value.isprintable():
                raise settings_error(self.settings, f"header {name!r} contains a line break")
            headers[name] = value
        if self.settings.api_key_env:
            headers["Authorization"] = f"Bearer {self._from_environment(self.settings.api_key_env)}"
        return headers

    def _from_environment(self, variable: str) -> str:
        value = os.environ.get(variable)
        if not value:
            raise settings_error(self.settings, f"environment variable {variable} is not set")
        if not value.isprintable():
            raise settings_error(self.settings, f"environment variable {variable} contains a line break or the like")
        self._secrets.append(value)
        return value

    async def prepare(self, cases: CaseSet) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                timeout=aiohttp.ClientTimeout(total=self.settings.timeout, sock_connect=CONNECT_SECONDS),
                headers=self._headers,
                skip_auto_headers=("User-Agent",),
            )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def answer(self, request: Request) -> Reply:
        if request.ask.scored_text is not None:
            return await self._text_logprobs.reply(request)
        count = len(request.trials) if self.supports_multiple else 1
        fields_left_out = frozenset(self._refused_fields)
        status, headers, body = await self._post(self._body(request, count))
        if status != 200:
            self._fail(status, headers.get("Retry-After"), body, count, request.ask, fields_left_out)
        reply = self.parse_reply(body, request)
        if len(reply.answers) < count:
            self.supports_multiple = False
        return reply

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        """The reply in the body of an HTTP 200. A broken body is a Fault; fields of a wrong type count as absent."""
        completion = self._load_object(body)
        choices = completion.get("choices")
        if not isinstance(choices, list) or not choices or not all(_is_well_formed(choice) for choice in choices):
            raise Fault("HTTP 200, but the body contains no choices")
        choices = sorted(choices, key=lambda choice: _count(choice.get("index")))[: len(request.trials)]
        answers = [self._answer(choice, completion, request) for choice in choices]
        usage = completion["usage"] if isinstance(completion.get("usage"), dict) else {}
        return Reply(answers, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))

    async def _complete(self, body: dict[str, Any], *, is_trial: bool) -> dict[str, Any] | None:
        """A plain completion; None if it is a trial and the server does not support it."""
        status, headers, reply = await self._post(PiecewiseBody([orjson.dumps(body)]), self._completions_url)
        if status == 200:
            return self._load_object(reply)
        if is_trial and status in NOT_OFFERED:
            return None
        self._raise_unless_specific(status, headers.get("Retry-After"), reply)
        raise RequestRejected(f"HTTP {status}: {self._error_text(reply)}")

    async def _post(self, body: PiecewiseBody, url: str | None = None) -> tuple[int, Any, bytes]:
        assert self._session is not None
        try:
            async with self._session.post(url or self._url, data=body, allow_redirects=False) as response:
                if 300 <= response.status < 400:
                    target = self._redact(response.headers.get("Location", "nowhere"))
                    raise CandidateUnavailable(
                        f"HTTP {response.status}: base_url redirects to {target}; redirects are not followed"
                    )
                return response.status, response.headers, await response.read()
        except aiohttp.ClientConnectorError as error:
            raise Fault(
                self._redact(f"{self._url} cannot be reached: {error.strerror or error}"), unreachable=True
            ) from None
        except aiohttp.ConnectionTimeoutError:
            raise Fault(
                f"{self._url} cannot be reached: no connection in {CONNECT_SECONDS:g} s", unreachable=True
            ) from None
        except TimeoutError:
            raise Fault(f"no reply in {self.settings.timeout:g} s") from None
        except aiohttp.InvalidURL:
            raise CandidateUnavailable(f"base_url {self.settings.base_url!r} is not an address") from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise Fault(self._redact(f"the connection broke: {type(error).__name__}")) from None

    def _body(self, request: Request, count: int) -> PiecewiseBody:
        ask, sampling = request.ask, request.ask.sampling
        payload: dict[str, Any] = {"model": self.settings.model, "messages": chat_messages(request, _placeholder)}
        payload |= sampling_fields(sampling)
        if sampling.logprobs:
            payload |= {"logprobs": True, "top_logprobs": sampling.logprobs, **NEUTRAL_SAMPLING}
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
        payload |= self.settings.extra_body
        if self.settings.model is None:
            del payload["model"]
        for name in self._refused_fields:
            payload.pop(name, None)
        if "max_tokens" in self._refused_fields and sampling.max_tokens:
            payload["max_completion_tokens"] = sampling.max_tokens
        # images are sent from memory as they are: encoding or copying 200 kB would take most of the time of a call
        rest = orjson.dumps(payload)
        pieces = []
        for image in request.images:
            before, _, rest = rest.partition(_placeholder(image).encode())
            pieces += [before, image.base64]
        return PiecewiseBody([*pieces, rest])

    def _fail(
        self, status: int, retry_after: str | None, body: bytes, count: int, ask: Ask, fields_left_out: frozenset[str]
    ) -> None:
        """Raises. `fields_left_out` are those of this request: others in flight may have been refused since."""
        self._raise_unless_specific(status, retry_after, body)
        message = self._error_text(body)
        if status in (400, 422):
            neutral_fields = NEUTRAL_SAMPLING if ask.sampling.logprobs else ()
            for name in ("chat_template_kwargs", "max_tokens", *neutral_fields):
                if name in message and name not in fields_left_out:
                    self._refused_fields.add(name)
                    raise RequestAdapted(f"does not take {name}: {message}")
            if count > 1:
                self.supports_multiple, self._refused_with_n = False, ask.key
                raise RequestAdapted(f"may take only one completion a request: {message}")
            if ask.key == self._refused_with_n:  # refused with n = 1, too: n was not the reason
                self.supports_multiple, self._refused_with_n = True, None
        raise RequestRejected(f"HTTP {status}: {message}")

    def _raise_unless_specific(self, status: int, retry_after: str | None, body: bytes) -> None:
        """Raises if the reason is not this Ask."""
        message = self._error_text(body)
        if status in TRANSIENT_STATUSES or status >= 500:
            raise Fault(f"HTTP {status}: {message}", retry_after=_seconds(retry_after))
        if status in (401, 403, 404):
            raise CandidateUnavailable(f"HTTP {status}: {message}")

    def _load_object(self, body: bytes) -> dict[str, Any]:
        try:
            completion = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise Fault("HTTP 200, but the body is not JSON") from None
        if not isinstance(completion, dict) or completion.get("error"):
            raise Fault(f"HTTP 200 with an error: {self._error_text(body)}")
        return completion

    def _answer(self, choice: dict[str, Any], completion: dict[str, Any], request: Request) -> Answer:
        message = choice["message"]
        return Answer(
            text=_text(message.get("content")),
            finish=_text(choice.get("finish_reason")) or "stop",
            reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")) or None,
            tool_calls=tuple(_objects(message.get("tool_calls"))),
            first_token=_first_token(choice) if request.ask.sampling.logprobs else None,
            model=_text(completion.get("model")) or None,
            images=request.image_hashes,
        )

    def _error_text(self, body: bytes) -> str:
        """The message of an error body, redacted before it is cut, so that no part of a secret is left."""
        try:
            loaded = orjson.loads(body)
            error = loaded.get("error", loaded) if isinstance(loaded, dict) else loaded
            message = error.get("message", error) if isinstance(error, dict) else error
        except orjson.JSONDecodeError:
            message = body.decode("utf-8", "replace")
        return " ".join(self._redact(str(message)).split())[:300]

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text


def is_loopback(base_url: str) -> bool:
    """Whether an address is on this machine, by its text alone: nothing is looked up."""
    host = ""
    try:
        host = urlsplit(base_url).hostname or ""
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(settings: CandidateSettings) -> str:
    """The candidate's base_url, checked; user names and passwords are refused."""
    if not settings.base_url:
        raise settings_error(settings, "base_url is required for provider 'openai'")
    try:
        parts = urlsplit(settings.base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        problem = f"base_url {settings.base_url!r} is not an address; expected http://HOST:PORT/v1"
        raise settings_error(settings, problem)
    if parts.username is not None or parts.password is not None:
        raise settings_error(settings, "base_url contains a user name or password; use api_key_env or headers")
    return settings.base_url


def _placeholder(image: EncodedImage) -> str:
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


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After is a number of seconds or a date."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(max(0.0, seconds), MAX_RETRY_AFTER)
