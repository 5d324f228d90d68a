"""A process that asks for all Asks of a store and writes down what it buys: `store_asker.py ADDRESS ASKS SEED LOG`.

Prints a line with every hundred answers that it has stored. With `one` for ASKS it buys a single answer, after a
line on its standard input.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sys
from contextlib import closing
from pathlib import Path

from wardround.core.ask import Answer
from wardround.core.store.location import read_location
from wardround.running.store import AnswerKey, AnswerStore, Call

AT_ONCE = 16


def ask_key(number: int) -> AnswerKey:
    return AnswerKey(hashlib.sha256(b"%d" % number).digest(), 0, 0)


async def ask_all(store: AnswerStore, asks: int, seed: str, log: Path) -> None:
    numbers = list(range(asks))
    random.Random(seed).shuffle(numbers)
    stored = 0
    with log.open("a", buffering=1) as bought:

        async def ask() -> None:
            nonlocal stored
            while numbers:
                number = numbers.pop()
                key = ask_key(number)
                async with store.leases.hold(key.ask, 0, lambda key=key: store.has(key), 60):
                    if store.get(key) is not None:
                        continue
                    bought.write(f"{number}\n")
                    await store.put([key], [Answer(f"{number} by {seed}")], Call("exam", seed, 1, 1))
                stored += 1
                if stored % 100 == 0:
                    print(stored, flush=True)

        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))


async def put_one(store: AnswerStore, seed: str) -> None:
    await store.put([ask_key(0)], [Answer(f"0 by {seed}")], Call("exam", seed, 1, 1))


if __name__ == "__main__":
    location, asks, seed, log = sys.argv[1:]
    with closing(AnswerStore(read_location(location))) as store:
        if asks == "one":
            print("ready", flush=True)
            sys.stdin.readline()
            asyncio.run(put_one(store, seed))
        else:
            asyncio.run(ask_all(store, int(asks), seed, Path(log)))
