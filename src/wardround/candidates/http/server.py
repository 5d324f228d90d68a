"""A candidate behind an HTTP server: what all APIs share. A subclass says what is sent and how a reply is read."""

from __future__ import annotations

import re
import ssl
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import orjson

from wardround.candidates.candidate import (
    LENGTH_FIELDS,
    TAKES_ONE,
    Candidate,
    CandidateUnavailable,
    Fault,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
    Unsupported,
    settings_error,
)
from wardround.candidates.http.connection import Connection, transport_errors
from wardround.candidates.http.errors import STOPS_AFTER, ServerError, parse_error, parse_limits
from wardround.candidates.http.reply_json import NotJson, as_utf8, read_json
from wardround.candidates.reasoning_effort import ReasoningEffort
from wardround.candidates.request_body import PiecewiseBody
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet
from wardround.core.ask import NO_LOGPROBS, Answer, Ask, Identity
from wardround.core.study import CandidateSettings

if TYPE_CHECKING:  # takes long to load, and a study whose answers are all stored needs none of it
    import aiohttp

    from wardround.candidates.http.post_pool import PostPool

THINKING_TOKENS = 8192  # on top of the answer's, where an API counts both together; our choice
FILE_SECONDS = 300  # between two pieces of what may be large
# by which a request limits the tokens of a reply, those of thinking included
REQUEST_IDS = ("request-id", "x-request-id", "x-amzn-requestid")  # headers by which a provider finds a failed call


class BatchItem(NamedTuple):
    """A request as an item of a batch: its JSON, and the most tokens of its replies if it limits them."""

    payload: bytes
    max_tokens_out: int | None


class ServerCandidate(Candidate):
    """Sends JSON, reads JSON, and learns which fields the server takes.

    A field is left out only if the server refuses it before it has accepted it once; the run's warnings say so.
    """

    optional_fields: ClassVar[tuple[str, ...]] = ()  # left out, with a warning: the server's defaults then hold
    renamed_fields: ClassVar[tuple[str, ...]] = ()  # sent in another form to a server that does not take them
    count_field: ClassVar[str] = ""  # by which several answers are asked for, if the API has such a field
    alternatives_field: ClassVar[str] = ""  # the number of alternatives whose log-probabilities are asked for

    def __init__(self, settings: CandidateSettings, connection: Connection) -> None:
        self.settings = settings
        self.identity: Identity = settings.identity
        self.supports_multiple = bool(self.count_field) and not settings.send_seed
        self.search_mode: str = settings.tools
        self.supports_probes = True
        self.warnings: list[str] = []
        self.adaptations: list[str] = []
        self._connection = connection
        self._url = connection.url()
        self._session: aiohttp.ClientSession | None = None
        self._posts: PostPool | None = None
        self._posts_plainly = connection.can_post(self._url)  # over our own connections, not by aiohttp
        self._max_count: int | None = None
        self._max_alternatives: int | None = None
        self._refused_with_count: bytes | None = None  # key of an Ask until it was sent for one answer
        self._accepted_fields: set[str] = set()
        self._refused_fields: set[str] = set()
        self._takes_no_logprobs = False

    @abstractmethod
    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        """The request's JSON for so many answers, with placeholders for images."""

    @abstractmethod
    def parse_reply(self, body: bytes, request: Request) -> Reply:
        """The reply in the body of an HTTP 200. A broken body is a Fault; fields of a wrong type count as absent."""

    @staticmethod
    @abstractmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        """Tokens in and out, of which the server says that it used them."""

    def adaptable_fields(self, payload: dict[str, Any]) -> Mapping[str, Any]:
        """The part of the payload whose fields a server may refuse."""
        return payload

    def fields_to_leave_out(self, ask: Ask) -> tuple[str, ...]:
        """Fields that may be left out, or sent in another form, if the server does not take them."""
        return (*self.renamed_fields, *self.optional_fields)

    async def prepare(self, cases: CaseSet) -> None:
        """A session is opened with the first call."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._posts is not None:
            await self._posts.close()
            self._posts = None

    def sent_fields(self, request: Request) -> Mapping[str, Any]:
        return self.adaptable_fields(self.make_payload(request, 1))

    async def check_access(self) -> None:
        try:
            await self._connection.authorize(self._url, ())
        except CandidateUnavailable as unavailable:
            raise settings_error(self.settings, str(unavailable)) from None

    async def answer(self, request: Request) -> Reply:
        if request.ask.sampling.logprobs and self._takes_no_logprobs:
            # what the Ask is for cannot be had: it is stored as unanswered, and its question is voted on
            unanswered = Answer("", NO_LOGPROBS, images=request.image_hashes)
            return Reply([unanswered] * len(request.trials), was_sent=False)
        count = min(len(request.trials), self._max_count or len(request.trials)) if self.supports_multiple else 1
        payload = self.make_payload(request, count)
        status, headers, body = await self._post(encode_payload(payload, request.images))
        if status != 200:
            self._fail(self._error(status, headers, body), payload, request)
        reply = self.parse_reply(body, request)
        self._accepted_fields |= self.adaptable_fields(payload).keys()
        if len(reply.answers) == 1 < count:
            self.supports_multiple = False
        limits = parse_limits(headers)
        return reply if limits is None else replace(reply, limits=limits)

    def make_batch_item(self, request: Request) -> BatchItem:
        """A request as an item of a batch."""
        if request.ask.sampling.logprobs and self._takes_no_logprobs:
            raise Unsupported("the server takes no logprobs")
        count = len(request.trials) if self.supports_multiple else 1
        payload = self.make_payload(request, count)
        limits = [limit for name in LENGTH_FIELDS if (limit := self.adaptable_fields(payload).get(name))]
        most = count * min(limits) if limits else None
        return BatchItem(b"".join(encode_payload(payload, request.images).pieces), most)

    def read_batch_reply(self, status: int, body: bytes, request: Request) -> Reply:
        """The reply in the result of an item, or the exception that an answer to it alone would have raised."""
        if status != 200:
            self._fail(self._error(status or 500, {}, body), self.make_payload(request, 1), request)
        return self.parse_reply(body, request)

    async def _post(self, body: PiecewiseBody, url: str | None = None) -> tuple[int, Any, bytes]:
        """Status, headers and body of the reply. A token that the server refuses is renewed once."""
        url = url or self._url
        authorization = await self._connection.authorize(url, body.pieces)
        reply = await self._send(url, body, authorization)
        if reply[0] == 401 and self._connection.renew(authorization):
            reply = await self._send(url, body, await self._connection.authorize(url, body.pieces))
        return reply

    async def _send(self, url: str, body: PiecewiseBody, authorization: dict[str, str]) -> tuple[int, Any, bytes]:
        if self._posts_plainly:
            return await self._send_plainly(url, body, authorization)
        from wardround.candidates.http.payload import JsonPayload

        async with self._open("POST", url, JsonPayload(body.pieces), authorization) as response:
            reply = as_utf8(await response.read(), response.headers.get("Content-Type"))
            return response.status, response.headers, reply

    async def _send_plainly(
        self, url: str, body: PiecewiseBody, authorization: dict[str, str]
    ) -> tuple[int, Any, bytes]:
        posts = self._posts = self._posts or self._connection.open_posts(url)
        try:
            status, headers, reply, _ = await posts.post(url, authorization, body.pieces)
        except (ConnectionError, TimeoutError, ssl.SSLError) as error:
            raise self._connection.failure(error) from None
        if "set-cookie" in headers:  # which aiohttp sends back
            self._posts_plainly = False
        self._check_status(status, headers)
        return status, headers, as_utf8(reply, headers.get("Content-Type"))

    def _check_status(self, status: int, headers: Mapping[str, str]) -> None:
        """Raises if a reply comes from the proxy, or says that the API is elsewhere."""
        self._connection.check_proxy_status(status)
        if 300 <= status < 400:
            target = self._connection.redact(headers.get("Location", "nowhere"))
            raise CandidateUnavailable(f"HTTP {status}: base_url redirects to {target}; redirects are not followed")

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        url: str,
        data: Any,
        headers: dict[str, str],
        *,
        may_be_large: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A response whose body is still to be read; a lost connection is a Fault."""
        session = self._session = self._session or self._connection.open_session()
        try:
            options = self._connection.request_options(headers)
            if may_be_large:
                options = options | {"timeout": _file_timeout()}
            async with session.request(method, url, data=data, allow_redirects=False, **options) as response:
                self._check_status(response.status, response.headers)
                yield response
        except transport_errors() as error:
            raise self._connection.failure(error) from None

    async def exchange(
        self, method: str, endpoint: str, data: Any = None, *, has_own_error: bool = False
    ) -> dict[str, Any]:
        """The object that an endpoint of the server replies with, outside of Asks; errors are raised as for an Ask.

        `has_own_error`: an `error` in an HTTP 200 is part of what is described, not of this request.
        """
        url = self._connection.url(endpoint)
        async with self._open(method, url, data, await self._other_headers(url, data), may_be_large=True) as response:
            reply = await response.read()
            if response.status >= 300:
                self._raise_outside_of_asks(response, reply)
            return self._load_object(reply, has_own_error=has_own_error)

    async def upload(self, content: IO[bytes], size: int, media_type: str, name: str) -> dict[str, Any]:
        """Uploads a file by Google's resumable protocol; what the server says of it."""
        start = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": media_type,
        }
        url = self._connection.url("/files", prefix="/upload")
        described, headers = orjson.dumps({"file": {"displayName": name}}), await self._other_headers(url, None)
        async with self._open("POST", url, described, headers | start, may_be_large=True) as response:
            if response.status >= 300:
                self._raise_outside_of_asks(response, await response.read())
            place = self._connection.same_host(response.headers.get("X-Goog-Upload-URL", ""))
        finish = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize", "Content-Length": str(size)}
        async with self._open("POST", place, content, headers | finish, may_be_large=True) as response:
            reply = await response.read()
            if response.status >= 300:
                self._raise_outside_of_asks(response, reply)
            return self._load_object(reply)

    async def read_lines(self, endpoint: str, *, prefix: str = "") -> AsyncIterator[dict[str, Any]]:
        """The objects of a JSON Lines document, one at a time; what is not an object is left out."""
        url = self._connection.url(endpoint, prefix=prefix)
        async with self._open("GET", url, None, await self._other_headers(url, None), may_be_large=True) as response:
            if response.status >= 300:
                self._raise_outside_of_asks(response, await response.read())
            rest = b""
            async for chunk in response.content.iter_chunked(1 << 20):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if (record := _as_object(line)) is not None:
                        yield record
            if (record := _as_object(rest)) is not None:
                yield record

    async def _other_headers(self, url: str, data: Any) -> dict[str, str]:
        """Authorisation, and the type of data that are not JSON, which is the session's."""
        import aiohttp

        own_type = {"Content-Type": data.content_type} if isinstance(data, aiohttp.MultipartWriter) else {}
        return own_type | await self._connection.authorize(url, ())

    def _raise_outside_of_asks(self, response: aiohttp.ClientResponse, body: bytes) -> NoReturn:
        error = self._error(response.status, response.headers, body)
        error.raise_unless_specific()
        raise RequestRejected(error.text)

    def _fail(self, error: ServerError, payload: dict[str, Any], request: Request) -> NoReturn:
        """Raises what an error means."""
        error.raise_unless_specific()
        if error.status in (400, 422) and not error.names_question:
            self._adapt(error, payload, request.ask)
        if request.ask.sampling.reasoning is not None and error.names_reasoning:
            switch = "on" if request.ask.sampling.reasoning else "off"
            raise Unsupported(f"the server does not take reasoning = {switch}: {error.text}")
        if request.images and error.takes_no_images:
            raise RequestRejected(f"{error.text} (if it sees no images, say `sees = false`)")
        error.raise_for_question(with_images=bool(request.images))

    def _adapt(self, error: ServerError, payload: dict[str, Any], ask: Ask) -> None:
        """Raises RequestAdapted if the request can be sent in a form that the server takes."""
        fields = self.adaptable_fields(payload)
        for name in (name for name in fields if name not in self._accepted_fields):
            limit = error.largest_allowed(name)
            if name == self.alternatives_field and limit is not None and limit < fields[name]:
                self._max_alternatives = limit
                raise self._adapted(f"takes at most {limit} {name}", error)
            if name == self.count_field and limit is not None and 1 < limit < fields[name]:
                self._max_count = limit
                raise self._adapted(f"takes {name} = {limit} at most", error)
            if error.does_not_take(name) and name in self.fields_to_leave_out(ask):
                self._leave_out(name, ask)
                raise self._adapted(f"takes no {name}", error)
        if fields.get(self.count_field, 1) > 1 and self.count_field not in self._accepted_fields:
            self.supports_multiple, self._refused_with_count = False, ask.key
            raise self._adapted(TAKES_ONE, error)
        if ask.key == self._refused_with_count:  # refused for one answer, too: their number was not the reason
            self.supports_multiple, self._refused_with_count = True, None

    def _leave_out(self, name: str, ask: Ask) -> None:
        self._refused_fields.add(name)
        if name in self.optional_fields:
            self.warnings.append(f"the server takes no {name}: its own default holds")

    def _leave_out_logprobs(self) -> None:
        self._takes_no_logprobs = True

    def _replace_effort(self, efforts: ReasoningEffort, error: ServerError, field: str, effort: object) -> None:
        """Raises RequestAdapted if another effort stands for the same value of the axis `reasoning`."""
        other = efforts.replace_refused(error, field, effort)
        if other is not None:
            warning = f"the model takes no reasoning effort {effort!r}: {other!r} is sent"
            self.warnings.append(f"{warning}, with which it may still reason" if other == "minimal" else warning)
            raise self._adapted(f"takes {field} = {other} instead of {effort}", error)

    def _adapted(self, adaptation: str, error: ServerError) -> RequestAdapted:
        if adaptation not in self.adaptations:
            self.adaptations.append(adaptation)
        return RequestAdapted(f"{adaptation}: {error.message}")

    def _error(self, status: int, headers: Any, body: bytes) -> ServerError:
        error = parse_error(status, headers, body)
        request_id = next((headers[name] for name in REQUEST_IDS if headers.get(name)), None)
        suffix = f" (request {self._one_line(request_id)})" if request_id else ""
        return replace(error, message=self._one_line(error.message) + suffix)

    def _load_object(self, body: bytes, *, has_own_error: bool = False) -> dict[str, Any]:
        try:
            reply = read_json(body)
        except NotJson:
            is_page = body.lstrip()[:1] == b"<"
            stops_after = STOPS_AFTER["not JSON"] if is_page else None
            what = f"an HTML page: {self._one_line(_text_of_page(body))}" if is_page else "not JSON"
            raise Fault(f"HTTP 200, but the body is {what}", kind="not JSON", stops_after=stops_after) from None
        if not isinstance(reply, dict):
            raise Fault("HTTP 200, but the body is no object", kind="not JSON")
        if reply.get("error") and not has_own_error:
            self._raise_enclosed(reply["error"], reply.get("usage"))
        return reply

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
            fault.tokens = self.count_tokens(usage if isinstance(usage, dict) else {})
            raise
        enclosed.raise_for_question(with_images=True)

    def _check_not_empty(self, answers: Sequence[Answer], usage: dict[str, Any] | None) -> None:
        """Raises a Fault for a reply without content that by the server's own count used no tokens."""
        has_content = any(answer.text or answer.reasoning or answer.tool_calls or answer.refusal for answer in answers)
        if usage is not None and not any(map(as_count, usage.values())) and not has_content:
            raise Fault("HTTP 200 with an empty reply that used no tokens", kind="empty reply without usage")

    def _one_line(self, message: str) -> str:
        """Redacted before it is cut, so that no part of a secret is left."""
        return " ".join(self._connection.redact(message).split())[:300]


def image_placeholder(image: EncodedImage) -> str:
    """What stands for an image's data in a payload until it is sent."""
    return f"@image:{image.sha256}@"


def encode_payload(payload: dict[str, Any], images: Sequence[EncodedImage]) -> PiecewiseBody:
    """Images are sent from memory as they are: encoding or copying 200 kB would take most of the time of a call."""
    rest = orjson.dumps(payload)
    pieces = []
    for image in images:
        before, _, rest = rest.partition(image_placeholder(image).encode())
        pieces += [before, image.base64]
    return PiecewiseBody([*pieces, rest])


def _file_timeout() -> aiohttp.ClientTimeout:
    import aiohttp

    return aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=FILE_SECONDS)


def _as_object(line: bytes) -> dict[str, Any] | None:
    try:
        record = read_json(line) if line.strip() else None
    except NotJson:
        return None
    return record if isinstance(record, dict) else None


def as_text(content: Any) -> str:
    """A text of a reply, or the texts of its parts; other types count as absent."""
    if isinstance(content, str):
        return content
    return "".join(as_text(part.get("text")) for part in as_objects(content))


def as_objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def as_count(number: Any) -> int:
    return number if isinstance(number, int) and number > 0 else 0


def _text_of_page(body: bytes) -> str:
    return re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", "replace"))
