"""A model server that misbehaves in named ways, on loopback, and keeps the bill.

A behaviour is a function that decides the reply to a call; behaviours.py has them. A stage is one behaviour under an
address of its own, with what came, what was answered and what was charged. No reply waits for a time: it waits for
other calls, or for the client to go away.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from wires import Json, Usage, Wire

ODD_ONE = 3  # the patient that a behaviour for one question is about
PATIENT = re.compile(r"History of patient (\d+)\b")
Behave = Callable[["Call"], "web.StreamResponse | Awaitable[web.StreamResponse]"]


def answers_plainly(call: Call) -> web.Response:
    """Answers every call."""
    return call.answer()


@dataclass
class Ledger:
    """The server's bill: the calls that it charges for, and their tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def charge(self, usage: Usage) -> None:
        self.calls += 1
        self.tokens_in += usage.tokens_in
        self.tokens_out += usage.billed_out

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


@dataclass
class Stage:
    """One behaviour under one address."""

    name: str
    wire: Wire
    behave: Behave
    is_odd: Callable[[int], bool] = lambda patient: patient == ODD_ONE
    ledger: Ledger = field(default_factory=Ledger)
    came_at: list[float] = field(default_factory=list)  # seconds, one entry a call
    times: Counter[int] = field(default_factory=Counter)  # patient -> calls
    replies: Counter[tuple[int, str]] = field(default_factory=Counter)  # (patient, text) that was answered -> times
    at_once: int = 0
    notes: dict[str, Any] = field(default_factory=dict)  # a behaviour's own memory
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def note_call(self, request: web.Request, body: Json, patient: int) -> Call:
        self.came_at.append(time.monotonic())
        self.times[patient] += 1
        return Call(self, request, body, patient, self.times[patient], self.calls)

    @property
    def calls(self) -> int:
        return len(self.came_at)

    @property
    def answers(self) -> int:
        return self.replies.total()


@dataclass
class Call:
    """What a behaviour sees of one call, and the replies it can give."""

    stage: Stage
    request: web.Request
    body: Json
    patient: int  # of the case that is asked about
    times: int  # how often this patient was asked about, this call included
    number: int  # of this call at its stage

    @property
    def is_odd(self) -> bool:
        """Whether it is the one question that a behaviour is about."""
        return self.stage.is_odd(self.patient)

    @property
    def comes_first(self) -> bool:
        """Whether it is the first call of that question."""
        return self.is_odd and self.times == 1

    @property
    def wanted(self) -> int:
        return self.stage.wire.wanted(self.body)

    @property
    def has_images(self) -> bool:
        return self.stage.wire.has_images(self.body)

    def text(self, index: int = 0) -> str:
        """An answer that no other question gets."""
        return f"{'ABCD'[self.patient % 4]}\n\n(patient {self.patient}, answer {index})"

    @property
    def texts(self) -> list[str]:
        """As many answers as are asked for."""
        return [self.text(index) for index in range(self.wanted)]

    def with_ending(self, ending: str) -> list[str]:
        return [f"{text} {ending}" for text in self.texts]

    def usage(self, texts: list[str], hidden: int = 0) -> Usage:
        written = sum(2 + len(text.encode("utf-8", "replace")) // 4 for text in texts)
        return Usage(11 + len(self.stage.wire.prompt(self.body)) // 4, written, hidden)

    def completion(
        self,
        texts: list[str] | None = None,
        *,
        finish: str = "stop",
        hidden: int = 0,
        tells_usage: bool = True,
        read_as: list[str] | None = None,
        **fields: Any,
    ) -> Json:
        """The JSON of an answer, which is charged. `read_as` are its texts as a client should read them."""
        texts = self.texts if texts is None else texts
        usage = self.usage(texts, hidden)
        self.stage.ledger.charge(usage)
        self.stage.replies.update((self.patient, text) for text in (texts if read_as is None else read_as))
        return self.stage.wire.answer(texts, usage if tells_usage else None, finish, **fields)

    def answer(self, texts: list[str] | None = None, headers: dict[str, str] | None = None, **how: Any) -> web.Response:
        return reply_json(self.completion(texts, **how), headers=headers)

    def unpaid(self, **fields: Any) -> Json:
        """The JSON of an answer that never becomes one: it is not charged, and must not be stored."""
        return self.stage.wire.answer(["C\n\n(never stored)"], Usage(0, 0), "stop", **fields)

    def error(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> web.Response:
        """An error. As careless servers do, it repeats the key that it was sent."""
        return reply_json(self.error_body(status, message, code, **fields), status, headers)

    def error_body(self, status: int, message: str, code: str | None = None, **fields: Any) -> Json:
        sent = self.request.headers.get("Authorization", "no key")
        return self.stage.wire.error(status, f"{message} [{sent}]", code, **fields)

    def page(self, status: int, title: str) -> web.Response:
        html = f"<!doctype html><html><title>{title}</title><body>{title}</body></html>"
        return web.Response(status=status, text=html, content_type="text/html")

    async def drop(self, beginning: bytes = b"") -> web.StreamResponse:
        """Breaks the connection, after the beginning of a body."""
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
        if beginning:
            await response.prepare(self.request)
            await response.write(beginning)
        assert self.request.transport is not None
        self.request.transport.abort()
        return response

    async def never(self) -> web.StreamResponse:
        """No reply until the client goes away."""
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Waits until something is so about the stage."""
        async with self.stage.changed:
            await self.stage.changed.wait_for(is_so)


def reply_json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, headers=headers, content_type="application/json")


class HostileServer:
    """`with HostileServer() as server:` serves on a free port until the block ends, any number of stages."""

    def __init__(self) -> None:
        self.port = 0
        self._stages: dict[str, Stage] = {}
        self._passed = 0  # calls of all stages that were let through
        self._hold_at: int | None = None
        self._watch = threading.Condition()

    def __enter__(self) -> HostileServer:
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def open(self, stage: Stage) -> str:
        """Serves a stage; returns the address for a study."""
        self._stages[stage.name] = stage
        return f"http://127.0.0.1:{self.port}/{stage.name}{stage.wire.base}"

    def hold(self, calls: int) -> None:
        """Lets no call through once so many were, until `release`; those that wait are never answered if killed."""
        self._hold_at = calls

    def release(self) -> None:
        self._hold_at = None
        self._loop.call_soon_threadsafe(self._released.set)

    def wait_for(self, is_so: Callable[[], bool], is_alive: Callable[[], bool]) -> None:
        """Waits, from another thread, until something is so; fails if nothing can bring it about any more."""
        with self._watch:
            while not self._watch.wait_for(is_so, timeout=1):
                assert is_alive(), "the process ended too early"

    @property
    def passed(self) -> int:
        return self._passed

    def _serve(self, started: threading.Event) -> None:
        async def serve() -> None:
            self._loop, self._stop, self._released = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
            app = web.Application(client_max_size=2**28)
            app.router.add_post("/{stage}/{rest:.*}", self._reply)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.port = runner.addresses[0][1]
            started.set()
            await self._stop.wait()
            await runner.cleanup()

        asyncio.run(serve())

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        stage = self._stages[request.match_info["stage"]]
        if f"/{stage.name}{stage.wire.base}{stage.wire.path}" != request.path:
            return web.Response(status=404, text=f"there is no {request.path}")
        body = orjson.loads(await request.read())
        await self._pass_gate()
        match = PATIENT.search(stage.wire.prompt(body))
        assert match is not None
        call = stage.note_call(request, body, int(match[1]))
        stage.at_once += 1
        try:
            await self._tell(stage)
            reply = stage.behave(call)
            return reply if isinstance(reply, web.StreamResponse) else await reply
        finally:
            stage.at_once -= 1
            await self._tell(stage)

    async def _pass_gate(self) -> None:
        while self._hold_at is not None and self._passed >= self._hold_at:
            self._released.clear()
            await self._released.wait()
        with self._watch:
            self._passed += 1
            self._watch.notify_all()

    async def _tell(self, stage: Stage) -> None:
        async with stage.changed:
            stage.changed.notify_all()
