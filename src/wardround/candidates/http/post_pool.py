"""PostPool: plain POSTs to one server over connections that are kept open, in half the CPU of aiohttp's client.

It has neither proxies, redirects nor cookies: `connection.py` leaves what needs them to aiohttp.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from wardround.candidates.http.reply_parser import HttpReply, MalformedReply, ReplyParser

MAX_IDLE_SECONDS = 15.0  # many servers close an idle connection after that
MAX_JOINED = 2**20  # bytes of a request that is sent by one call of the system, for which it is copied
BUFFER_SIZE = 2**16
PLAIN_TARGET = re.compile(r"(/[A-Za-z0-9_~:@!$&'()*+,;=-][A-Za-z0-9._~:@!$&'()*+,;=-]*)+(\?[A-Za-z0-9._~&=-]*)?")
PLAIN_HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*|[0-9a-f:]+")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
ALWAYS_SENT = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate"}


class NotConnected(ConnectionError):
    """No connection could be opened."""


class NotConnectedInTime(NotConnected):
    """No connection could be opened in the time for that."""


def can_post(url: str, headers: Mapping[str, str]) -> bool:
    """Whether a request is plain enough: nothing in its address or headers must be rewritten or escaped."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return (
        PLAIN_TARGET.fullmatch(target) is not None
        and PLAIN_HOST.fullmatch(parts.hostname or "") is not None
        and all(HEADER_NAME.fullmatch(name) and value.isprintable() for name, value in headers.items())
    )


class PostPool:
    """Connections to the server of one URL. A request that gets no reply in `timeout` seconds is a TimeoutError."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        tls: ssl.SSLContext | None,
        timeout: float,
        connect_timeout: float,
    ) -> None:
        parts = urlsplit(url)
        self._headers = headers  # of all requests
        self._heads: dict[str, str] = {}  # of requests without headers of their own, by URL
        self._host = parts.hostname or ""
        self._tls = (tls or _default_tls()) if parts.scheme == "https" else None
        self._port = parts.port or (80 if self._tls is None else 443)
        self._timeout, self._connect_timeout = timeout, connect_timeout
        self._loop = asyncio.get_running_loop()
        self._idle: list[_Connection] = []  # the one used last is taken first
        self._open: set[_Connection] = set()
        self._deadlines: dict[asyncio.Future[HttpReply], float] = {}  # in order, as all have the same time
        self._timer: asyncio.TimerHandle | None = None
        self.buffer = bytearray(BUFFER_SIZE)  # of all connections: what was received is copied at once

    async def post(self, url: str, more_headers: Mapping[str, str], pieces: Sequence[bytes]) -> HttpReply:
        """The reply to a POST of these pieces to a URL of the server. Nothing is sent twice."""
        done: asyncio.Future[HttpReply] = self._loop.create_future()
        self._deadlines[done] = self._loop.time() + self._timeout
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadlines[done], self._expire)
        connection: _Connection | None = None
        try:
            connection = self._take() or await self._connect()
            head = f"{self._head(url, more_headers)}Content-Length: {sum(map(len, pieces))}\r\n\r\n"
            connection.send(done, [head.encode(), *pieces])
            if connection.is_paused:
                await connection.drain()
            return await done
        except BaseException:
            if connection is not None:
                connection.abort()
            raise
        finally:
            del self._deadlines[done]
            if not done.cancelled() and not done.cancel():
                done.exception()  # nobody else asks for it

    def _head(self, url: str, more_headers: Mapping[str, str]) -> str:
        """The lines of a request's head, but for the last one."""
        if more_headers:
            return _head_lines(url, {**self._headers, **more_headers})
        head = self._heads.get(url)
        if head is None:
            head = self._heads[url] = _head_lines(url, self._headers)
        return head

    def _take(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_alive and self._loop.time() - connection.idle_since < MAX_IDLE_SECONDS:
                return connection
            connection.abort()
        return None

    async def _connect(self) -> _Connection:
        seconds = min(self._timeout, self._connect_timeout)
        try:
            async with asyncio.timeout(seconds):
                _, connection = await self._loop.create_connection(
                    lambda: _Connection(self), self._host, self._port, ssl=self._tls, happy_eyeballs_delay=0.25
                )
        except TimeoutError:
            if seconds == self._timeout:
                raise
            raise NotConnectedInTime from None
        except ssl.SSLError:
            raise
        except OSError as error:
            raise NotConnected(error.strerror or str(error) or type(error).__name__) from None
        self._open.add(connection)
        return connection

    def _expire(self) -> None:
        now, self._timer = self._loop.time(), None
        for done, deadline in list(self._deadlines.items()):
            if deadline > now:
                self._timer = self._loop.call_at(deadline, self._expire)
                break
            if not done.done():
                done.set_exception(TimeoutError())

    def release(self, connection: _Connection) -> None:
        connection.idle_since = self._loop.time()
        self._idle.append(connection)

    def forget(self, connection: _Connection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self._open):
            connection.abort()
        self._idle.clear()
        await asyncio.sleep(0)  # in which the transports close


class _Connection(asyncio.BufferedProtocol):
    """One connection, which carries one request after the other."""

    def __init__(self, pool: PostPool) -> None:
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[HttpReply] | None = None  # of the request under way
        self._parser = ReplyParser()
        self._resumed: asyncio.Event | None = None  # set when the transport takes more; None while it does
        self._unsent: list[bytes] = []
        self.idle_since = 0.0

    @property
    def is_alive(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_paused(self) -> bool:
        return bool(self._unsent)

    def send(self, done: asyncio.Future[HttpReply], pieces: list[bytes]) -> None:
        """Sends a request of ordinary size at once; what is left of a large one is for `drain`."""
        assert self._transport is not None
        self._done, self._parser = done, ReplyParser()
        if sum(map(len, pieces)) <= MAX_JOINED:
            self._transport.write(b"".join(pieces))
        else:
            self._unsent = pieces

    async def drain(self) -> None:
        """Sends the pieces of a large request, none before the transport has sent most of those before it."""
        if self._done is not None:
            self._done.add_done_callback(lambda _: self.resume_writing())
        while self._unsent and self._done is not None and not self._done.done() and self._transport is not None:
            if self._resumed is None:
                self._transport.write(self._unsent.pop(0))
            else:
                await self._resumed.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def pause_writing(self) -> None:
        self._resumed = asyncio.Event()

    def resume_writing(self) -> None:
        if self._resumed is not None:
            self._resumed.set()
            self._resumed = None

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._pool.buffer

    def buffer_updated(self, size: int) -> None:
        if self._done is None:  # nobody asked for anything
            self.abort()
            return
        try:
            reply = self._parser.feed(bytes(memoryview(self._pool.buffer)[:size]))
        except MalformedReply as problem:
            self._fail(problem)
            return
        if reply is not None:
            self._end(reply)

    def eof_received(self) -> None:
        """The server sends no more: the transport closes, too."""

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._pool.forget(self)
        self.resume_writing()
        if self._done is None:
            return
        if error is not None:
            is_known = isinstance(error, ConnectionError | ssl.SSLError)
            self._fail(error if is_known else ConnectionError(str(error)))
            return
        try:
            self._end(self._parser.end())
        except MalformedReply as problem:
            self._fail(problem)

    def _end(self, reply: HttpReply) -> None:
        """A server may reply before it has the whole request: then its connection is of no further use."""
        done, self._done = self._done, None
        transport = self._transport
        if reply.is_reusable and not self._unsent and transport is not None and not transport.get_write_buffer_size():
            self._pool.release(self)
        else:
            self.abort()
        if done is not None and not done.done():
            done.set_result(reply)

    def _fail(self, error: Exception) -> None:
        done, self._done = self._done, None
        self.abort()
        if done is not None and not done.done():
            done.set_exception(error)

    def abort(self) -> None:
        self._done = None
        self._unsent = []
        self.resume_writing()
        if self._transport is not None:
            self._transport.abort()


def _head_lines(url: str, headers: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    by_name = {name.lower(): f"{name}: {value}\r\n" for name, value in (ALWAYS_SENT | dict(headers)).items()}
    host = parts.netloc.rpartition("@")[2]
    return f"POST {target} HTTP/1.1\r\nHost: {host}\r\n" + "".join(by_name.values())


def _default_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
