"""A model server of a fixed pace: answers one call after the other, each a given time after the one before.

Run as a program of its own with the seconds of a call it prints its port. With a number of calls, its process ends
without a reply when it gets the next one.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from perf.null_server import Connection


class PacedConnection(Connection):
    """Sends each answer when those before it, of all connections, have had their time."""

    seconds = 0.0
    max_calls: int | None = None
    free_at = 0.0  # when the last call so far will have been answered

    def reply(self, transport: asyncio.Transport, answer: bytes) -> None:
        if PacedConnection.max_calls is not None and Connection.calls > PacedConnection.max_calls:
            os._exit(1)
        loop = asyncio.get_running_loop()
        PacedConnection.free_at = max(loop.time(), PacedConnection.free_at) + PacedConnection.seconds
        loop.call_at(PacedConnection.free_at, transport.write, answer)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(PacedConnection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def paced_server(seconds: float, max_calls: int | None = None) -> Iterator[str]:
    """The address of a server in another process, for as long as the block lasts or until its calls are used up."""
    limit = [] if max_calls is None else [str(max_calls)]
    command = [sys.executable, "-m", "perf.paced_server", str(seconds), *limit]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def paced_servers(count: int, seconds: float) -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(paced_server(seconds)) for _ in range(count)]


if __name__ == "__main__":
    PacedConnection.seconds = float(sys.argv[1])
    PacedConnection.max_calls = int(sys.argv[2]) if len(sys.argv) > 2 else None
    asyncio.run(serve())
