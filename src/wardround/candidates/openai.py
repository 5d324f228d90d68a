"""`openai`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, clouds)."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from wardround.candidates.candidate import Adapted, Fault, Gone, Rejected, Reply, Request
from wardround.candidates.openai_text_logprobs import NOT_OFFERED, Foretelling
from wardround.candidates.request_body import Pieces
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer, Ask, Identity, ImagePart, Message
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

CONNECT_SECONDS = 5.0
LONGEST_WAIT = 300.0
MAY_PASS = {408, 409, 425, 429}  # and all 5xx
SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie")
# neutral values that only say "no such filter": a server that does not know them is asked without
NEUTRAL = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class OpenAI:
    """A server that answers chat completions."""

    def __init__(self, settings: CandidateSettings) -> None:
        self.settings = settings
        self.identity: Identity = settings.identity
        self.several = not settings.send_seed
        self.searching: str = settings.tools
        self.writes = True
        self.warnings: list[str] = []
        self._foretelling = Foretelling(settings, self._complete)
        self._refused_as_several: bytes | None = None  # until this Ask is asked alone
        base = _address(settings).rstrip("/")
        self._url, self._plain_url = f"{base}/chat/completions", f"{base}/completions"
        self._refused: set[str] = set()  # optional fields that this server does not take
        self._secrets: list[str] = []
        self._headers = {"Content-Type": "application/json", **self._given_headers()}
        self._session: aiohttp.ClientSession | None = None

    def _given_headers(self) -> dict[str, str]:
        headers = {}
        for name, value in self.settings.headers.items():
            if value.startswith("$"):
                value = self._from_environment(value[1:])
            elif any(word in name.lower() for word in SECRET_HEADERS):
                raise WardroundError(
                    f"candidate {self.settings.name!r}: header {name!r} looks like a secret: "
                    'write "$NAME" and put it into the environment variable NAME'
                )
            elif not value.isprintable():
                raise WardroundError(f"candidate {self.settings.name!r}: header {name!r} holds a line break")
            headers[name] = value
        if self.settings.api_key_env:
            headers["Authorization"] = f"Bearer {self._from_environment(self.settings.api_key_env)}"
        return headers

    def _from_environment(self, variable: str) -> str:
        value = os.environ.get(variable)
        if not value:
            raise WardroundError(f"candidate {self.settings.name!r}: environment variable {variable} is not set")
        if not value.isprintable():
            raise WardroundError(
                f"candidate {self.settings.name!r}: environment variable {variable} holds a line break or the like"
            )
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
        if request.ask.foretold is not None:
            return await self._foretelling.reply(request)
        count = len(request.trials) if self.several else 1
        left_out = frozenset(self._refused)
        status, headers, body = await self._post(self._body(request, count))
        if status != 200:
            self._fail(status, headers.get("Retry-After"), body, count, request.ask, left_out)
        reply = self.read(body, request)
        if len(reply.answers) < count:
            self.several = False
        return reply

    def read(self, body: bytes, request: Request) -> Reply:
        """What the body of an HTTP 200 says. A broken one is a Fault; fields that make no sense count as absent."""
        told = self._loaded(body)
        answers = [self._answer(choice, told, request) for choice in told["choices"]][: len(request.trials)]
        usage = told.get("usage")
        used = usage if isinstance(usage, dict) else {}
        return Reply(answers, _count(used.get("prompt_tokens")), _count(used.get("completion_tokens")))

    async def _complete(self, body: dict[str, Any], *, trying: bool) -> dict[str, Any] | None:
        """A plain completion; None where the server does not offer what is tried."""
        status, headers, reply = await self._post(Pieces([orjson.dumps(body)]), self._plain_url)
        if status == 200:
            return self._object(reply)
        if trying and status in NOT_OFFERED:
            return None
        self._fail_for_all(status, headers.get("Retry-After"), reply)
        raise Rejected(f"HTTP {status}: {self._error_text(reply)}")

    async def _post(self, body: Pieces, url: str | None = None) -> tuple[int, Any, bytes]:
        assert self._session is not None
        try:
            async with self._session.post(url or self._url, data=body, allow_redirects=False) as response:
                if 300 <= response.status < 400:
                    away = self._clean(response.headers.get("Location", "nowhere"))
                    raise Gone(f"HTTP {response.status}: base_url leads to {away}; redirects are not followed")
                return response.status, response.headers, await response.read()
        except aiohttp.ClientConnectorError as error:
            raise Fault(
                self._clean(f"{self._url} cannot be reached: {error.strerror or error}"), unreachable=True
            ) from None
        except aiohttp.ConnectionTimeoutError:
            raise Fault(
                f"{self._url} cannot be reached: no connection in {CONNECT_SECONDS:g} s", unreachable=True
            ) from None
        except TimeoutError:
            raise Fault(f"no reply in {self.settings.timeout:g} s") from None
        except aiohttp.InvalidURL:
            raise Gone(f"base_url {self.settings.base_url!r} is no address") from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise Fault(self._clean(f"the connection broke: {type(error).__name__}")) from None

    def _body(self, request: Request, count: int) -> Pieces:
        ask, sampling = request.ask, request.ask.sampling
        payload: dict[str, Any] = {"model": self.settings.model, "messages": _messages(ask, request)}
        for name in ("temperature", "top_p", "top_k", "max_tokens"):
            if (value := getattr(sampling, name)) is not None:
                payload[name] = value
        if sampling.stop:
            payload["stop"] = list(sampling.stop)
        if sampling.logprobs:
            payload |= {"logprobs": True, "top_logprobs": sampling.logprobs, **NEUTRAL}
        if sampling.reasoning is not None:
            if "chat_template_kwargs" not in self._refused:
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
        for name in self._refused:
            payload.pop(name, None)
        if "max_tokens" in self._refused and sampling.max_tokens:
            payload["max_completion_tokens"] = sampling.max_tokens
        # images are sent from where they are kept: to encode or even copy 200 kB a call would cost most of it
        rest = orjson.dumps(payload)
        pieces = []
        for image in request.images:
            before, _, rest = rest.partition(_placeholder(image.sha256).encode())
            pieces += [before, image.base64]
        return Pieces([*pieces, rest])

    def _fail(
        self, status: int, retry_after: str | None, body: bytes, count: int, ask: Ask, left_out: frozenset[str]
    ) -> None:
        """Raises. `left_out` is what this request came without: others under way may have been refused meanwhile."""
        self._fail_for_all(status, retry_after, body)
        said = self._error_text(body)
        if status in (400, 422):
            for name in self._may_leave_out(ask):
                if name in said and name not in left_out:
                    self._refused.add(name)
                    raise Adapted(f"does not take {name}: {said}")
            if count > 1:
                self.several, self._refused_as_several = False, ask.key
                raise Adapted(f"may take one completion a request only: {said}")
            if ask.key == self._refused_as_several:  # refused alone too: it was not for being several
                self.several, self._refused_as_several = True, None
        raise Rejected(f"HTTP {status}: {said}")

    def _fail_for_all(self, status: int, retry_after: str | None, body: bytes) -> None:
        """Raises for what does not lie in the Ask."""
        said = self._error_text(body)
        if status in MAY_PASS or status >= 500:
            raise Fault(f"HTTP {status}: {said}", retry_after=_seconds(retry_after))
        if status in (401, 403, 404):
            raise Gone(f"HTTP {status}: {said}")

    def _may_leave_out(self, ask: Ask) -> list[str]:
        names = ["chat_template_kwargs", "max_tokens"]
        if ask.sampling.logprobs:
            names += NEUTRAL
        return names

    def _object(self, body: bytes) -> dict[str, Any]:
        try:
            told = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise Fault("HTTP 200, but the body is not JSON") from None
        if not isinstance(told, dict) or told.get("error"):
            raise Fault(f"HTTP 200 with an error: {self._error_text(body)}")
        return told

    def _loaded(self, body: bytes) -> dict[str, Any]:
        told = self._object(body)
        choices = told.get("choices")
        if not isinstance(choices, list) or not choices or not all(_well_formed(choice) for choice in choices):
            raise Fault("HTTP 200, but the body holds no choices")
        told["choices"] = sorted(choices, key=lambda choice: _count(choice.get("index")))
        return told

    def _answer(self, choice: dict[str, Any], told: dict[str, Any], request: Request) -> Answer:
        message = choice["message"]
        return Answer(
            text=_text(message.get("content")),
            finish=_text(choice.get("finish_reason")) or "stop",
            reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")) or None,
            tool_calls=tuple(_objects(message.get("tool_calls"))),
            first_token=_first_token(choice) if request.ask.sampling.logprobs else None,
            model=_text(told.get("model")) or None,
            images=tuple(image.sha256 for image in request.images),
        )

    def _error_text(self, body: bytes) -> str:
        """What an error body says: first without secrets, then cut, so that no part of one is left."""
        try:
            told = orjson.loads(body)
            error = told.get("error", told) if isinstance(told, dict) else told
            said = error.get("message", error) if isinstance(error, dict) else error
        except orjson.JSONDecodeError:
            said = body.decode("utf-8", "replace")
        return " ".join(self._clean(str(said)).split())[:300]

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text


def is_loopback(base_url: str) -> bool:
    """Whether an address stays on this machine, judged by its name alone: nothing is looked up."""
    host = ""
    try:
        host = urlsplit(base_url).hostname or ""
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(settings: CandidateSettings) -> str:
    """The candidate's address, if it is one; names and passwords do not belong into a study."""
    if not settings.base_url:
        raise WardroundError(f"candidate {settings.name!r}: base_url is required for provider 'openai'")
    try:
        parts = urlsplit(settings.base_url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise WardroundError(
            f"candidate {settings.name!r}: base_url {settings.base_url!r} is no address; expected http://HOST:PORT/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise WardroundError(
            f"candidate {settings.name!r}: base_url holds a user name or password: use api_key_env or headers instead"
        )
    return settings.base_url


def _messages(ask: Ask, request: Request) -> list[dict[str, Any]]:
    images = iter(request.images)
    return [_message(message, images) for message in ask.messages]


def _message(message: Message, images: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role}
    if any(isinstance(part, ImagePart) for part in message.parts):
        content: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, str):
                content.append({"type": "text", "text": part})
            else:
                image = next(images)
                url = f"data:{image.media_type};base64,{_placeholder(image.sha256)}"
                content.append({"type": "image_url", "image_url": {"url": url}})
        told["content"] = content
    else:
        told["content"] = "\n\n".join(part for part in message.parts if isinstance(part, str))
    if message.tool_calls:
        told["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id is not None:
        told["tool_call_id"] = message.tool_call_id
    return told


def _placeholder(sha256: str) -> str:
    return f"@image:{sha256}@"


def _well_formed(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in _objects(content))
    return content if isinstance(content, str) else ""


def _objects(told: Any) -> list[dict[str, Any]]:
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def _count(told: Any) -> int:
    return told if isinstance(told, int) and told > 0 else 0


def _first_token(choice: dict[str, Any]) -> tuple[tuple[str, float], ...] | None:
    logprobs = choice.get("logprobs")
    content = _objects(logprobs.get("content")) if isinstance(logprobs, dict) else []
    if not content:
        return None
    return tuple(
        (entry["token"].replace("Ġ", " "), float(entry["logprob"]))  # byte-level tokenizers' space, where left raw
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
    return min(max(0.0, seconds), LONGEST_WAIT)
