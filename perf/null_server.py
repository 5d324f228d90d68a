"""A model server that costs next to nothing: reads a request, answers with the same completion every time.

Run as a program of its own it prints its port; `GET /` tells how many calls and bytes it got.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
# the end of a request's path, in small letters -> the reply of its API
REPLIES = {
    b"/chat/completions": {
        "id": "null",
        "object": "chat.completion",
        "created": 0,
        "model": "null",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 1, "total_tokens": 701},
    },
    b"/responses": {
        "id": "null",
        "object": "response",
        "status": "completed",
        "model": "null",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "B", "annotations": []}],
            }
        ],
        "usage": {"input_tokens": 700, "output_tokens": 1, "total_tokens": 701},
    },
    b"/messages": {
        "id": "null",
        "type": "message",
        "role": "assistant",
        "model": "null",
        "content": [{"type": "text", "text": "B"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 700, "output_tokens": 1},
    },
    b":generatecontent": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "B"}]}, "finishReason": "STOP", "index": 0}],
        "modelVersion": "null",
        "usageMetadata": {"promptTokenCount": 700, "candidatesTokenCount": 1, "totalTokenCount": 701},
    },
}
ANSWERS = {
    path: HEAD % len(body) + body for path, body in ((path, orjson.dumps(reply)) for path, reply in REPLIES.items())
}


class Connection(asyncio.Protocol):
    """Knows as much of HTTP as it needs: where a head ends and how long its body is."""

    calls = 0
    bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._head = b""
        self._left = 0  # of a body
        self._answer = b""

    def data_received(self, data: bytes) -> None:
        if self._left:
            self._left -= len(data)
        else:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            head, body = self._head[:end].lower(), len(self._head) - end - 4
            self._head = b""
            if head.startswith(b"get"):
                counts = orjson.dumps({"calls": Connection.calls, "bytes": Connection.bytes})
                self._transport.write(HEAD % len(counts) + counts)
                return
            path = head.split(b" ", 2)[1].partition(b"?")[0]
            self._answer = next(answer for end_of_path, answer in ANSWERS.items() if path.endswith(end_of_path))
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            Connection.calls += 1
            Connection.bytes += length
            self._left = length - body
        if self._left == 0:
            self.reply(self._transport, self._answer)

    def reply(self, transport: asyncio.Transport, answer: bytes) -> None:
        """Sends the answer, at once."""
        transport.write(answer)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def null_server() -> Iterator[str]:
    """The address of a null server in another process, for as long as the block lasts."""
    process = subprocess.Popen([sys.executable, "-m", "perf.null_server"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


def received(url: str) -> tuple[int, int]:
    """How many calls and bytes of bodies the server at this address got."""
    with urllib.request.urlopen(url.removesuffix("/v1")) as response:
        counts = orjson.loads(response.read())
    return counts["calls"], counts["bytes"]


if __name__ == "__main__":
    asyncio.run(serve())
