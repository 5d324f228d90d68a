"""Servers of a fixed pace, in virtual time: what several of them answer a second, and what the death of one changes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from virtual_time import run_virtually

from wardround.candidates.candidate import Fault, Reply
from wardround.candidates.server_pool import ServerPool
from wardround.core.ask import Answer
from wardround.core.study import CandidateSettings

CALLS = 400


class FixedPace:
    """Answers one call after the other, each in so many seconds; dies after so many answers."""

    search_mode, supports_probes, supports_multiple = "calls", True, True
    warnings: list[str] = []
    adaptations: tuple[str, ...] = ()

    def __init__(self, name: str, seconds: float, dies_after: int = CALLS, model: str = "m") -> None:
        self.settings = SimpleNamespace(address=name)
        self.seconds, self.dies_after, self.model = seconds, dies_after, model
        self.answered, self.turn = 0, asyncio.Lock()

    async def answer(self, request: object) -> Reply:
        async with self.turn:
            if self.answered >= self.dies_after:
                raise Fault("connection refused", unreachable=True)
            await asyncio.sleep(self.seconds)
            self.answered += 1
            return Reply([Answer("A", model=self.model)])


def pool_of(servers: list[FixedPace]) -> ServerPool:
    urls = [f"http://{server.settings.address}/v1" for server in servers]
    return ServerPool(CandidateSettings(name="x", provider="openai", base_urls=urls, concurrency=4), servers)


async def ask_all(pool: ServerPool) -> float:
    """Puts all calls, as many at once as the pool takes. Returns how long it took; a fault would be raised."""
    slots = asyncio.Semaphore(pool.max_concurrency)

    async def ask() -> None:
        async with slots:
            await pool.answer(SimpleNamespace(address=None))

    await asyncio.gather(*(ask() for _ in range(CALLS)))
    return asyncio.get_running_loop().time()


def seconds_for(*servers: FixedPace) -> float:
    return run_virtually(ask_all(pool_of(list(servers))))


@pytest.mark.parametrize(("count", "ratio"), [(2, 1.9), (4, 3.6)])
def test_several_servers_answer_several_times_as_much(count, ratio):
    one = seconds_for(FixedPace("a", 1.0))
    several = seconds_for(*(FixedPace(f"s{number}", 1.0) for number in range(count)))
    assert one == CALLS
    assert one / several >= ratio


def test_a_faster_server_answers_more():
    """Three servers of 1, 1 and 4 answers a second answer 6 a second: the fast one two thirds of all."""
    servers = [FixedPace("a", 1.0), FixedPace("b", 1.0), FixedPace("fast", 0.25)]
    seconds = seconds_for(*servers)
    assert seconds <= 1.1 * CALLS / 6
    assert 0.6 * CALLS <= servers[2].answered <= 0.72 * CALLS


def test_a_server_that_dies_in_the_middle_raises_no_fault():
    servers = [FixedPace("a", 1.0), FixedPace("b", 1.0, dies_after=100)]
    seconds_for(*servers)
    assert [server.answered for server in servers] == [CALLS - 100, 100]


def test_servers_that_name_different_models_are_told_apart():
    servers = [FixedPace("a", 1.0, model="m-1"), FixedPace("b", 1.0, model="m-2")]
    pool = pool_of(servers)
    run_virtually(ask_all(pool))
    assert pool.warnings == ["the servers in `base_urls` name different models (a: m-1; b: m-2)"]
