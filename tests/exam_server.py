"""A model server for tests: speaks the OpenAI chat protocol on loopback, well-behaved or hostile.

No test waits for a time: `hold` keeps replies back, `wait_for` waits for a state, `release` sends the replies.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

import orjson
from aiohttp import web

# request body, index of the choice -> the text, or fields of the choice
Answering = Callable[[dict[str, Any], int], str | dict[str, Any]]
Replying = Callable[[dict[str, Any], int], web.Response | None]  # request body, number of the call
FAULTS = ("429", "500", "503", "drop", "drop-in-body", "truncated", "error-body")


def letter_by_hash(body: dict[str, Any], index: int) -> str:
    """A deterministic server: the answer depends on the messages alone."""
    prompt = orjson.dumps(body["messages"]) + str(index).encode()
    return "ABCD"[hashlib.sha256(prompt).digest()[0] % 4]


def text_of(body: dict[str, Any]) -> str:
    """All text of a request."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class ExamServer:
    """`with ExamServer(...) as server:` serves on a free port until the block ends.

    `several` is what it does with `n`: True gives n choices, False gives one, "refused" answers 400. `replying` may
    answer a call in its own way; if it returns None, the call is answered as usual. `reading` answers plain
    completions; without it there are none.
    """

    def __init__(
        self,
        answering: Answering = letter_by_hash,
        *,
        fault_rate: float = 0.0,
        seed: int = 0,
        capacity: int | None = None,
        service_seconds: float = 0.0,
        several: bool | Literal["refused"] = True,
        model: str = "exam-model",
        first_token: Callable[[dict[str, Any]], list[tuple[str, float]]] | None = None,
        replying: Replying | None = None,
        reading: Callable[[dict[str, Any]], web.Response] | None = None,
    ) -> None:
        self.answering, self.fault_rate, self.capacity = answering, fault_rate, capacity
        self.service_seconds, self.several = service_seconds, several
        self.model, self.first_token, self.replying, self.reading = model, first_token, replying, reading
        self.read: list[dict[str, Any]] = []
        self.calls = 0
        self.succeeded = 0
        self.faults: Counter[str] = Counter()
        self.refused: list[int] = []  # numbers of the calls that were refused for capacity
        self.bodies: list[dict[str, Any]] = []
        self.keep_bodies = True
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.most_at_once = 0
        self.port = 0
        self.held = 0  # calls whose replies are kept back now
        self._at_once = 0
        self._passed = 0  # calls whose replies were not kept back, or no longer
        self._hold_at: int | None = None
        self._changed = threading.Condition()
        self._random = random.Random(seed)

    def __enter__(self) -> ExamServer:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Serves; after a stop, on the same port again."""
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)

    def stop(self) -> None:
        """Stops listening and drops every connection."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def hold(self, answers: int = 0) -> None:
        """Keeps further replies back once so many have been sent, until `release`."""
        self._hold_at = answers

    def release(self) -> None:
        """Sends the replies that were kept back, and keeps back no others."""
        self._hold_at = None
        self._loop.call_soon_threadsafe(self._released.set)

    def wait_for(
        self,
        is_so: Callable[[], bool],
        process: subprocess.Popen[str] | None = None,
        threads: Sequence[threading.Thread] = (),
    ) -> None:
        """Waits until something is so about this server; fails if what should bring it about has ended."""
        with self._changed:
            while not self._changed.wait_for(is_so, timeout=1):
                if process is not None:
                    assert process.poll() is None, process.communicate()[1]
                assert all(thread.is_alive() for thread in threads), "a thread has ended"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _serve(self, started: threading.Event) -> None:
        async def serve() -> None:
            self._loop, self._stop, self._released = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
            app = web.Application(client_max_size=2**28)
            app.router.add_post("/v1/chat/completions", self._complete)
            if self.reading is not None:
                app.router.add_post("/v1/completions", self._read)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", self.port)
            await site.start()
            self.port = runner.addresses[0][1]
            started.set()
            await self._stop.wait()
            await runner.cleanup()

        asyncio.run(serve())

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        with self._changed:
            self.calls += 1
            number = self.calls
            self._changed.notify_all()
        if self._random.random() < self.fault_rate:
            return await self._fault(self._random.choice(FAULTS), request)
        if self.capacity is not None and self._at_once >= self.capacity:
            with self._changed:
                self.refused.append(number)
                self._changed.notify_all()
            return web.json_response({"error": {"message": "too many requests"}}, status=429)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.service_seconds:
                await asyncio.sleep(self.service_seconds)
            await self._pass_gate()
            return self._reply(orjson.loads(raw), number, request)
        finally:
            with self._changed:
                self._at_once -= 1
                self._changed.notify_all()

    async def _pass_gate(self) -> None:
        while self._hold_at is not None and self._passed >= self._hold_at:
            self._released.clear()
            self._count_held(1)
            try:
                await self._released.wait()
            finally:
                self._count_held(-1)
        self._passed += 1

    def _count_held(self, change: int) -> None:
        with self._changed:
            self.held += change
            self._changed.notify_all()

    async def _read(self, request: web.Request) -> web.Response:
        assert self.reading is not None
        self.read.append(orjson.loads(await request.read()))
        return self.reading(self.read[-1])

    def _reply(self, body: dict[str, Any], number: int, request: web.Request) -> web.Response:
        if self.keep_bodies:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        reply = self.replying(body, number) if self.replying else None
        if reply is not None:
            return reply
        if self.several == "refused" and body.get("n", 1) > 1:
            return web.json_response({"error": {"message": "n must be 1"}}, status=400)
        completion = orjson.dumps(self._completion(body))
        self.answered[hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()] += 1
        self.succeeded += 1
        return web.Response(body=completion, content_type="application/json")

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        count = body.get("n", 1) if self.several is True else 1
        choices = []
        for index in range(count):
            reply = self.answering(body, index)
            fields = reply if isinstance(reply, dict) else {"message": {"role": "assistant", "content": reply}}
            choice: dict[str, Any] = {"index": index, "finish_reason": "stop", **fields}
            if body.get("logprobs") and self.first_token is not None:
                top = [{"token": token, "logprob": value} for token, value in self.first_token(body)]
                choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
            choices.append(choice)
        choices.reverse()  # the order on the wire does not matter, the index does
        usage = {"prompt_tokens": 100, "completion_tokens": count, "total_tokens": 100 + count}
        return {"id": "x", "model": self.model, "choices": choices, "usage": usage}

    async def _fault(self, kind: str, request: web.Request) -> web.StreamResponse:
        self.faults[kind] += 1
        if kind == "429":
            return web.json_response({"error": "slow down"}, status=429, headers={"Retry-After": "0.05"})
        if kind in ("500", "503"):
            return web.Response(status=int(kind), text="<html>broken</html>")
        whole = orjson.dumps(
            {"model": self.model, "choices": [{"index": 0, "message": {"role": "assistant", "content": "broken"}}]}
        )
        if kind == "truncated":
            return web.Response(body=whole[: len(whole) // 2], content_type="application/json")
        if kind == "error-body":
            return web.json_response({"error": {"message": "internal", "code": 500}})
        transport = request.transport
        assert transport is not None
        if kind == "drop-in-body":
            response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
            await response.prepare(request)
            await response.write(whole[:20])
        transport.abort()
        return web.Response(status=500)
