"""Connections that send slowly or not at all are closed; the others are served meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

import pytest
import uvicorn
from desk_site import Visitor

from wardround.core.sockets import open_socket
from wardround.desk import slow_connections
from wardround.desk.auth import guard
from wardround.desk.slow_connections import ImpatientProtocol

WHOLE = b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Server:
    """A desk on loopback whose connections run out of time when the test says so."""

    def __init__(self, app) -> None:
        self._socket = open_socket("127.0.0.1", 0)
        self.address = self._socket.getsockname()
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical", http=ImpatientProtocol, lifespan="off"))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self._loop.run_until_complete(self._server.serve([self._socket]))

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=300)

    def let_time_run_out(self, count: int) -> None:
        """Waits until `count` connections have a limit on their time, and reaches it."""

        async def reach_limits() -> None:
            while len(waiting := [c for c in self._server.server_state.connections if c._headers_due]) < count:
                await asyncio.sleep(0)
            for connection in waiting:
                connection._headers_due.cancel()
                connection._give_up()

        asyncio.run_coroutine_threadsafe(reach_limits(), self._loop).result(300)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._loop.close()
        self._socket.close()


@pytest.fixture
def server(site, monkeypatch):
    monkeypatch.setattr(slow_connections, "REQUEST_SECONDS", 3600.0)
    server = Server(site.app)
    yield server
    server.stop()


def read_response(connection: socket.socket) -> bytes:
    """One response with its body, on a connection that stays open."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, body = received.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return received


def read_to_end(connection: socket.socket) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionResetError):  # closed with bytes that the server has not read
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"G", WHOLE[:-2], b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_a_request_without_an_end_is_closed_without_an_answer(server, sent):
    with server.connect() as connection:
        connection.sendall(sent)
        server.let_time_run_out(1)
        assert read_to_end(connection) == b""


def test_a_second_request_on_a_connection_must_end_too(server):
    with server.connect() as connection:
        connection.sendall(WHOLE)
        assert read_response(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /login HTTP/1.1\r\nHo")
        server.let_time_run_out(1)
        assert read_to_end(connection) == b""


def test_a_body_that_does_not_come_is_refused(server, site, monkeypatch):
    visitor = Visitor(site)
    cookie = f"{site.desk.visits.cookie}={visitor.cookies[site.desk.visits.cookie]}"
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nContent-Length: 100\r\n"
    monkeypatch.setattr(guard, "PART_SECONDS", 0.01)
    with server.connect() as connection:
        connection.sendall((head + "Content-Type: application/x-www-form-urlencoded\r\n\r\nname=").encode())
        assert read_response(connection).startswith(b"HTTP/1.1 408")


def test_300_slow_connections_do_not_stop_the_others(server):
    slow = [server.connect() for _ in range(300)]
    try:
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        with server.connect() as visitor:
            visitor.sendall(WHOLE)
            assert read_response(visitor).startswith(b"HTTP/1.1 200")
        server.let_time_run_out(300)
        assert [read_to_end(connection) for connection in slow] == [b""] * 300
    finally:
        for connection in slow:
            connection.close()
