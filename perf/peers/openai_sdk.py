"""The openai SDK, asynchronous: one client, as many calls under way as told."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from openai import AsyncOpenAI

from perf.measured import Clock, print_usage
from perf.workload import MODEL, messages, plain_asks, with_bytes


async def loop(asks: list[tuple[str, bytes]], url: str, concurrency: int) -> None:
    waiting = iter(asks)

    async def worker(client: AsyncOpenAI) -> None:
        for text, image in waiting:
            completion = await client.chat.completions.create(
                model=MODEL, messages=messages(text, image), temperature=0.0, max_tokens=8
            )
            assert completion.choices[0].message.content == "B"

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        await asyncio.gather(*(worker(client) for _ in range(concurrency)))


def main(folder: Path, url: str, calls: int, concurrency: int) -> None:
    asks = with_bytes(plain_asks(folder, calls))
    started = Clock.now()
    asyncio.run(loop(asks, url, concurrency))
    print_usage(started)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
