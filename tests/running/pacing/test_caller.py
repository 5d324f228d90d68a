"""A Caller with servers that are slow, limited, or away for a while. Time is virtual."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from virtual_time import run_virtually

from wardround.candidates.candidate import CandidateUnavailable, Fault, OfflineCandidate, Reply, Request
from wardround.core.ask import Answer
from wardround.core.study import Budget, CandidateSettings
from wardround.running.budget import BudgetTracker
from wardround.running.caller import Caller

SERVICE_SECONDS = 0.02


@dataclass
class Server(OfflineCandidate):
    """Takes `capacity` calls at once, and is away from `away[0]` to `away[1]` seconds."""

    capacity: int = 1_000_000
    away: tuple[float, float] = (0.0, 0.0)
    calls: int = 0
    refused: list[int] = field(default_factory=list)  # numbers of calls
    at_once: int = 0
    max_at_once: int = 0

    async def answer(self, request: Request) -> Reply:
        self.calls += 1
        if self.away[0] <= asyncio.get_running_loop().time() < self.away[1]:
            raise Fault("cannot be reached", unreachable=True)
        if self.at_once >= self.capacity:
            self.refused.append(self.calls)
            raise Fault("too many requests")
        self.at_once += 1
        self.max_at_once = max(self.max_at_once, self.at_once)
        await asyncio.sleep(SERVICE_SECONDS)
        self.at_once -= 1
        return Reply([Answer("A")] * len(request.trials))


class Store:
    """Commits at once; nobody else asks."""

    def __init__(self) -> None:
        self.leases = self

    @asynccontextmanager
    async def hold(self, *_: Any) -> AsyncIterator[None]:
        yield

    def find(self, key: Any) -> None:
        return None

    def count_fault(self, *_: Any) -> None:
        pass

    async def put(self, keys: Any, answers: list[Answer], call: Any) -> list[Answer]:
        return answers


def request(number: int) -> Request:
    ask = SimpleNamespace(key=number.to_bytes(4, "big"), images=(), messages=())
    return Request(ask, None, None, None, (), (0,))  # type: ignore[arg-type]


def fetch_all(monkeypatch, count: int, concurrency: int, attempts: int = 12, **server: Any):
    """The caller, its server and the results of so many requests at the same time."""
    random.seed(0)  # of the waits between attempts
    settings = CandidateSettings(name="server", provider="x", concurrency=concurrency, attempts=attempts)

    async def fetch() -> tuple[Caller, Server, list[Any]]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("wardround.running.caller.time", SimpleNamespace(monotonic=loop.time))
        candidate = Server(settings, **server)
        caller = Caller("run", candidate, Store(), None, BudgetTracker(Budget()))  # type: ignore[arg-type]
        results = await asyncio.gather(*map(caller.fetch, map(request, range(count))), return_exceptions=True)
        return caller, candidate, results

    return run_virtually(fetch())


def test_a_server_that_takes_eight_calls_soon_gets_eight(monkeypatch):
    caller, server, results = fetch_all(monkeypatch, 1200, concurrency=64, capacity=8)
    assert results == [[Answer("A")]] * 1200
    late = [number for number in server.refused if number > 200]
    assert server.refused
    assert len(late) < 0.05 * (server.calls - 200)
    assert server.max_at_once == 8
    assert 7 <= caller.pace.limit <= 10


def test_a_server_without_a_limit_gets_the_whole_concurrency(monkeypatch):
    caller, server, _ = fetch_all(monkeypatch, 600, concurrency=40)
    assert caller.pace.limit == server.max_at_once == 40


def test_a_server_that_is_away_for_a_while_is_waited_for(monkeypatch):
    """Attempts during its absence do not count: three would not be enough."""
    caller, server, results = fetch_all(monkeypatch, 400, concurrency=16, attempts=3, away=(0.2, 200.0))
    assert results == [[Answer("A")]] * 400
    assert caller.tally.failed == 0
    assert 0 < caller.tally.faults == server.calls - 400


def test_a_server_that_stays_away_is_given_up(monkeypatch):
    caller, _, results = fetch_all(monkeypatch, 400, concurrency=16, away=(0.2, 1e9))
    answered = [result for result in results if not isinstance(result, Exception)]
    assert 0 < len(answered) == caller.tally.answers < 400
    assert {type(result) for result in results} == {list, CandidateUnavailable}
    assert re.fullmatch(r"given up after 30\d s: cannot be reached", caller.unavailable)


@pytest.mark.parametrize("away", [10.0, 1e9])
def test_a_server_that_was_never_there_is_given_up_soon(monkeypatch, away):
    caller, _, _ = fetch_all(monkeypatch, 20, concurrency=4, attempts=1000, away=(0.0, away))
    assert (caller.unavailable is None) == (away == 10.0)
