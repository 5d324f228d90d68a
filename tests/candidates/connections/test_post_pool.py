"""POSTs over connections of our own, to servers in the same event loop that do as each test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from wardround.candidates.http import post_pool
from wardround.candidates.http.post_pool import NotConnected, NotConnectedInTime, PostPool, can_post
from wardround.candidates.http.reply_parser import HttpReply, MalformedReply

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PATH = "/v1/chat/completions"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Serves each connection with `serve`; keeps the heads and bodies of the requests that `read` reads."""

    def __init__(self, serve: Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        self._serve = serve
        self.connections = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []

    async def read(self, reader: asyncio.StreamReader) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line.split(": ")[1] for line in head.splitlines() if line.startswith("Content-Length"))
        self.heads.append(head)
        self.bodies.append(await reader.readexactly(int(length)))

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._serve(self, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def with_server(
    serve: Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    go: Callable[[PostPool, str], Coroutine[Any, Any, None]],
    *,
    timeout: float = 30.0,
) -> Server:
    """Runs `go` with a pool and the URL of a server."""

    async def main() -> Server:
        server = Server(serve)
        listening = await asyncio.start_server(server.accept, "127.0.0.1", 0, limit=2**24)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{PATH}"
        pool = PostPool(url, {"Content-Type": "application/json", "X-Key": "k"}, None, timeout, 5.0)
        try:
            await go(pool, url)
        finally:
            await pool.close()
            listening.close()
        return server

    return asyncio.run(main())


async def answer_all(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await server.read(reader)
        writer.write(OK)


def test_requests_share_connections_and_arrive_whole() -> None:
    async def go(pool: PostPool, url: str) -> None:
        for _ in range(3):
            reply = await pool.post(url, {}, [b"{", b"0" * 300_000, b"}"])
            assert (reply.status, reply.body) == (200, b"ok")
        await pool.post(f"{url}?q=1", {"x-key": "other", "Authorization": "Bearer t"}, [b"{}"])

    server = with_server(answer_all, go)

    assert server.connections == 1
    assert server.bodies == [b"{" + b"0" * 300_000 + b"}"] * 3 + [b"{}"]
    lines = server.heads[0].lower().split("\r\n")
    assert lines[0] == f"post {PATH} http/1.1"
    assert {"x-key: k", "content-type: application/json", "content-length: 300002"} <= set(lines)
    last = server.heads[-1].lower().split("\r\n")
    assert last[0] == f"post {PATH}?q=1 http/1.1"
    assert [line for line in last if line.startswith(("x-key", "authorization"))] == [
        "x-key: other",
        "authorization: bearer t",
    ]


def test_as_many_connections_as_requests_at_once() -> None:
    all_arrived = asyncio.Event()

    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        if len(server.heads) == 3:
            all_arrived.set()
        await all_arrived.wait()
        writer.write(OK)

    async def go(pool: PostPool, url: str) -> None:
        await asyncio.gather(*(pool.post(url, {}, [b"{}"]) for _ in range(3)))

    assert with_server(serve, go).connections == 3


def test_a_large_request_is_sent_in_pieces_and_arrives_whole() -> None:
    pieces = [b"a" * 3_000_000, b"b" * 2_000_000, b"c"]

    async def go(pool: PostPool, url: str) -> None:
        assert (await pool.post(url, {}, pieces)).body == b"ok"
        assert (await pool.post(url, {}, [b"{}"])).body == b"ok"

    server = with_server(answer_all, go)

    assert server.bodies == [b"".join(pieces), b"{}"]
    assert server.connections == 1


def test_a_reply_before_the_whole_request_was_read_counts_and_the_connection_does_not() -> None:
    done = asyncio.Event()

    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await done.wait()

    async def go(pool: PostPool, url: str) -> None:
        for _ in range(2):
            assert (await pool.post(url, {}, [b"a" * 20_000_000, b"b" * 20_000_000])).status == 413
        done.set()

    assert with_server(serve, go).connections == 2


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", b"nonsense\r\n\r\n"])
def test_a_connection_that_ends_early_or_makes_no_sense_is_malformed(said: bytes) -> None:
    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        writer.write(said)

    async def go(pool: PostPool, url: str) -> None:
        for _ in range(2):
            with pytest.raises(MalformedReply):
                await pool.post(url, {}, [b"{}"])

    assert with_server(serve, go).connections == 2


def test_the_end_of_the_connection_ends_a_reply_without_length() -> None:
    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")

    async def go(pool: PostPool, url: str) -> None:
        assert (await pool.post(url, {}, [b"{}"])).body == b"all of it"

    with_server(serve, go)


def test_an_idle_connection_that_the_server_closed_or_spoke_on_is_not_used_again() -> None:
    go_on = asyncio.Event()

    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        writer.write(OK)
        if server.connections == 1:
            await writer.drain()
            await go_on.wait()
            writer.write(OK)  # which nobody asked for
            await reader.read()

    async def go(pool: PostPool, url: str) -> None:
        await pool.post(url, {}, [b"{}"])
        go_on.set()
        for _ in range(3):
            while pool._idle:  # until the close has arrived
                await asyncio.sleep(0)
            await pool.post(url, {}, [b"{}"])

    assert with_server(serve, go).connections == 4


def test_an_old_idle_connection_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_pool, "MAX_IDLE_SECONDS", -1.0)

    async def go(pool: PostPool, url: str) -> None:
        await pool.post(url, {}, [b"{}"])
        await pool.post(url, {}, [b"{}"])

    assert with_server(answer_all, go).connections == 2


def test_a_request_without_reply_ends_in_time_while_others_go_on() -> None:
    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        if server.bodies[-1] == b"wait":
            await reader.read()
        writer.write(OK)

    async def go(pool: PostPool, url: str) -> None:
        silent = asyncio.ensure_future(pool.post(url, {}, [b"wait"]))
        with pytest.raises(TimeoutError):
            await silent
        assert (await pool.post(url, {}, [b"{}"])).body == b"ok"

    with_server(serve, go, timeout=0.2)


def test_a_large_request_that_the_server_does_not_read_ends_in_time() -> None:
    done = asyncio.Event()

    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()

    async def go(pool: PostPool, url: str) -> None:
        with pytest.raises(TimeoutError):
            await pool.post(url, {}, [b"a" * 30_000_000, b"b" * 30_000_000])
        done.set()

    with_server(serve, go, timeout=0.2)


def test_a_cancelled_request_takes_its_connection_with_it() -> None:
    arrived = asyncio.Event()

    async def serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        if server.connections == 1:
            arrived.set()
            assert await reader.read() == b""  # closed
            return
        writer.write(OK)

    async def go(pool: PostPool, url: str) -> None:
        post = asyncio.ensure_future(pool.post(url, {}, [b"{}"]))
        await arrived.wait()
        post.cancel()
        with pytest.raises(asyncio.CancelledError):
            await post
        assert (await pool.post(url, {}, [b"{}"])).body == b"ok"

    assert with_server(serve, go).connections == 2


def test_a_server_that_is_not_there_is_not_connected() -> None:
    async def go() -> HttpReply:
        listening = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{PATH}"
        listening.close()
        await listening.wait_closed()
        return await PostPool(url, {}, None, 30.0, 5.0).post(url, {}, [b"{}"])

    with pytest.raises(NotConnected) as raised:
        asyncio.run(go())

    assert not isinstance(raised.value, NotConnectedInTime)


PLAIN = {
    "http://127.0.0.1:8000/v1/chat/completions": True,
    "https://api.example.com/v1/messages": True,
    "http://[::1]:8000/v1/chat/completions": True,
    "https://api.example.com/v1/models/gemini-2.5:generateContent?alt=json": True,
    "https://api.example.com/v1/../admin": False,
    "https://api.example.com/v1/./chat": False,
    "https://api.example.com//chat": False,
    "https://api.example.com/v1/a%20b": False,
    "https://api.example.com/v1/chat?key=a%2Fb": False,
    "https://api.example.com/v1/bücher": False,
    "https://bücher.example/v1/chat": False,
    "https://api.example.com./v1/chat": False,
    "https://api.example.com": False,
}


@pytest.mark.parametrize(("url", "is_plain"), PLAIN.items())
def test_what_must_be_rewritten_is_left_to_aiohttp(url: str, is_plain: bool) -> None:
    assert can_post(url, {"X-Key": "k"}) == is_plain


@pytest.mark.parametrize("headers", [{"X Key": "k"}, {"X-Key": "k\r\nX-Other: o"}, {"X-Key:": "k"}, {"": "k"}])
def test_a_header_that_would_break_a_request_is_left_to_aiohttp(headers: dict[str, str]) -> None:
    assert not can_post("http://127.0.0.1:8000/v1/chat/completions", headers)
