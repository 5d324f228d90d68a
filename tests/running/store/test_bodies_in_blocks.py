"""Many stored bodies read at once are those that single look-ups give, in the order of the keys."""

import asyncio
from pathlib import Path

import orjson

from wardround.core.ask import Answer
from wardround.running.store import AnswerKey, AnswerStore
from wardround.running.store.answers import ASKS_PER_QUERY, Call


def test_bodies_of_many_keys_come_in_their_order_with_none_for_a_missing_one(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    asks = [number.to_bytes(32, "big") for number in range(ASKS_PER_QUERY + 3)]

    async def put_all() -> None:
        keys = [AnswerKey(ask, trial, 0) for ask in asks for trial in (0, 1)]
        call = Call("run", "candidate", 1, 1)
        await asyncio.gather(*(store.put([key], [Answer(f"{key.ask[-2:].hex()} {key.trial}")], call) for key in keys))

    asyncio.run(put_all())
    wanted = [AnswerKey(ask, 1, 0) for ask in reversed(asks)]
    missing = [AnswerKey(asks[0], 2, 0), AnswerKey(asks[0], 1, 1), AnswerKey(b"\xff" * 32, 0, 0)]

    bodies = store.bodies([*missing[:1], *wanted, *missing[1:], wanted[0]])
    store.close()

    texts = [None if body is None else orjson.loads(body)["text"] for body in bodies]
    assert texts == [None, *(f"{key.ask[-2:].hex()} 1" for key in wanted), None, None, f"{asks[-1][-2:].hex()} 1"]


def test_a_store_that_keeps_bodies_reads_them_again_only_if_others_were_asked_for_or_one_was_missing(tmp_path):
    store = AnswerStore(tmp_path / "answers.sqlite", keeps_bodies=True)
    first, second = (AnswerKey(bytes(31) + bytes([number]), 0, 0) for number in (1, 2))

    def put(key: AnswerKey, text: str) -> None:
        asyncio.run(store.put([key], [Answer(text)], Call("run", "candidate", 1, 1)))

    def texts(*keys: AnswerKey) -> list[str | None]:
        return [body and orjson.loads(body)["text"] for body in store.bodies(keys)]

    put(first, "A")
    assert texts(first, second) == ["A", None]
    put(second, "B")
    assert texts(first, second) == ["A", "B"]
    store.connection.execute("update answers set body = replace(body, 'B', 'C')")
    assert texts(first, second) == ["A", "B"]  # answers never change: this says only that they were not read
    assert texts(second) == ["C"]
    assert texts(first, second) == ["A", "C"]
    store.close()


def test_what_a_run_spent_has_every_commit_in_it(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    calls: list[int] = []

    async def spend() -> None:
        for number in range(3):
            calls.append(store.spent("run", "candidate").calls)
            await store.put_call(bytes([number]), Call("run", "candidate", 1, 1))
        calls.append(store.spent("run", "candidate").calls)

    asyncio.run(spend())
    store.close()
    assert calls == [0, 1, 2, 3]
