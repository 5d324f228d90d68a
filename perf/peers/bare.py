"""A bare aiohttp loop: builds each body (base64, JSON), sends it and parses the reply. Keeps nothing."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp
import orjson

from perf.measured import Clock, print_usage
from perf.workload import MODEL, messages, plain_asks, with_bytes


async def loop(asks: list[tuple[str, bytes]], url: str, concurrency: int) -> None:
    waiting = iter(asks)

    async def worker(session: aiohttp.ClientSession) -> None:
        for text, image in waiting:
            body = {"model": MODEL, "messages": messages(text, image), "temperature": 0.0, "max_tokens": 8}
            async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                reply = orjson.loads(await response.read())
            assert reply["choices"][0]["message"]["content"] == "B"

    headers = {"Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))


def main(folder: Path, url: str, calls: int, concurrency: int) -> None:
    asks = with_bytes(plain_asks(folder, calls))
    started = Clock.now()
    asyncio.run(loop(asks, url, concurrency))
    print_usage(started)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
