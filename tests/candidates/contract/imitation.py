"""Imitations of model APIs on loopback, strict about their schema: what the real API refuses, they refuse.

Written from the public references as of 2026-11-16. A behaviour that a test names is what the API does next.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

PLAN = [("A", -0.2), ("B", -1.9), ("C", -3.5)]  # log-probabilities of the first token
QUERY = {"query": "ring enhancing lesion"}
MAX_IMAGE_BYTES = 5 * 1024 * 1024


class Schema(BaseModel):
    """A part of a request; a field that is not named is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Refusal(Exception):
    """What the API answers instead: a status, a body, headers."""

    def __init__(self, status: int, body: Any, **headers: str) -> None:
        self.status, self.body, self.headers = (
            status,
            body,
            {name.replace("_", "-"): value for name, value in headers.items()},
        )


class Imitation(ABC):
    """One API on a free port of loopback. `behaviour` is what it does with the next requests that are well-formed."""

    path: ClassVar[str]
    key = "exam-key-0123456789"

    def __init__(self, behaviour: str = "answers") -> None:
        self.behaviour = behaviour
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.replied = 0  # requests that were neither refused nor failed

    @abstractmethod
    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        """Raises a Refusal unless the request is authorised."""

    @abstractmethod
    def check(self, body: dict[str, Any]) -> None:
        """Raises a Refusal for a request that the API does not take."""

    @abstractmethod
    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a well-formed request, by the behaviour."""

    @abstractmethod
    def fault(self, kind: str) -> Refusal | None:
        """What the API answers for a behaviour that is a fault: `rate limit`, `overloaded`, `too long`, ..."""

    async def other(self, request: web.Request, raw: bytes) -> web.Response | None:
        """The response of an endpoint that is not the one of Asks; None if the request is an Ask."""
        return None

    def __enter__(self) -> Imitation:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        assert started.wait(30)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = runner.addresses[0][1]
        started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        raw = await request.read()
        self.paths.append(request.raw_path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        try:
            if (response := await self.other(request, raw)) is not None:
                return response
            self.check_access(request.headers, request.raw_path, raw)
            body = orjson.loads(raw)
            self.bodies.append(body)
            self.check(body)
            if self.behaviour == "no reply":
                await self._stop.wait()
            if self.behaviour == "broken body":
                return web.Response(body=b'{"id": "x", "cont', content_type="application/json")
            if refusal := self.fault(self.behaviour):
                raise refusal
            self.replied += 1
            return web.json_response(self.reply(body))
        except Refusal as refusal:
            return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)


def unknown_fields(error: ValidationError) -> list[str]:
    """The dotted paths of fields that are not in the schema."""
    return [".".join(map(str, item["loc"])) for item in error.errors() if item["type"] == "extra_forbidden"]


def decoded_size(data: str) -> int | None:
    """The number of bytes of base64 data; None if it is not base64."""
    try:
        return len(base64.b64decode(data, validate=True))
    except binascii.Error:
        return None
