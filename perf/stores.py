"""Answers committed a second, by one process with 64 Asks at once: an SQLite file against a PostgreSQL server."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from perf.bars import versions
from wardround.core.ask import Answer
from wardround.core.store.location import StoreLocation
from wardround.running.store import AnswerKey, AnswerStore, Call

ASKS, AT_ONCE = 5_000, 64


def main(arguments: list[str]) -> bool:
    """Without a bar: the figures depend on the disk and the server. The server of the tests does not wait for it."""
    sys.path.append(str(Path(__file__).parent.parent / "tests" / "running" / "store"))
    from postgres_server import PostgresServer, why_no_server

    if reason := why_no_server():
        print(f"  {reason}")
        return False
    print(f"  {versions('psycopg', 'orjson')}")
    with tempfile.TemporaryDirectory() as folder:
        _print("SQLite", Path(folder) / "answers.sqlite")
    server = PostgresServer()
    try:
        _print("PostgreSQL (fsync off, socket)", server.new_database())
    finally:
        server.remove()
    return True


def _print(name: str, location: StoreLocation) -> None:
    with closing(AnswerStore(location)) as store:
        started = time.perf_counter()
        asyncio.run(_put_all(store))
        written = time.perf_counter() - started
        started = time.perf_counter()
        assert all(store.has(_key(number)) for number in range(ASKS))
        read = time.perf_counter() - started
    print(f"  {name}: {ASKS / written:,.0f} answers leased and committed a second, {ASKS / read:,.0f} looked up")


def _key(number: int) -> AnswerKey:
    return AnswerKey(hashlib.sha256(b"%d" % number).digest(), 0, 0)


async def _put_all(store: AnswerStore) -> None:
    numbers = iter(range(ASKS))

    async def put() -> None:
        for number in numbers:
            key = _key(number)
            async with store.leases.hold(key.ask, 0, lambda: False, 0):
                await store.put([key], [Answer("The answer is B." * 20, model="m")], Call("exam", "server", 900, 200))

    await asyncio.gather(*(put() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    main([])
