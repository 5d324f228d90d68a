"""Servers with rate limits, in virtual time: everything is answered, and little is refused once the limit is known."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from test_caller import Store, request
from virtual_time import run_virtually

from wardround.candidates.candidate import OfflineCandidate, RateLimited, Reply, Request, ServerLimits
from wardround.core.ask import Answer
from wardround.core.study import Budget, CandidateSettings
from wardround.running.budget import BudgetTracker
from wardround.running.caller import Caller


@dataclass
class LimitedServer(OfflineCandidate):
    """A bucket of `capacity` requests, refilled with `per_second`; or, with a window, so many in each window."""

    capacity: float = 60.0
    per_second: float = 1.0
    window: float | None = None
    says_when: bool = False  # by Retry-After
    says_rest: bool = False  # by x-ratelimit headers
    refuses: tuple[float, float] = (0.0, 0.0)  # everything in this time
    log: list[tuple[float, bool]] = field(default_factory=list)  # time, whether accepted
    left: float = 60.0
    at: float = 0.0

    async def answer(self, request: Request) -> Reply:
        now = asyncio.get_running_loop().time()
        if self.window is None:
            self.left = min(self.capacity, self.left + (now - self.at) * self.per_second)
        elif now // self.window > self.at // self.window:
            self.left = self.capacity
        self.at = now
        is_accepted = self.left >= 1 and not self.refuses[0] <= now < self.refuses[1]
        self.log.append((now, is_accepted))
        if not is_accepted:
            await asyncio.sleep(0.05)
            raise RateLimited("too fast", kind="HTTP 429", retry_after=self._wait(now), limits=self._limits())
        self.left -= 1
        limits = self._limits()
        await asyncio.sleep(0.3 * random.uniform(0.5, 1.5))
        return Reply([Answer("A")], limits=limits)

    def _wait(self, now: float) -> float | None:
        if not self.says_when:
            return None
        return (1 - self.left) / self.per_second if self.window is None else self.window - now % self.window

    def _limits(self) -> ServerLimits | None:
        reset = (self.capacity - self.left) / self.per_second
        return ServerLimits(int(self.left), reset) if self.says_rest else None


def fetch_all(monkeypatch: pytest.MonkeyPatch, asks: int, seed: int, **server: Any) -> LimitedServer:
    random.seed(seed)
    settings = CandidateSettings(name="server", provider="x", concurrency=16)

    async def fetch() -> LimitedServer:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("wardround.running.caller.time", SimpleNamespace(monotonic=loop.time))
        candidate = LimitedServer(settings, **server)
        caller = Caller("run", candidate, Store(), None, BudgetTracker(Budget()))  # type: ignore[arg-type]
        results = await asyncio.gather(*map(caller.fetch, map(request, range(asks))))
        assert results == [[Answer("A")]] * asks
        assert caller.tally.failed == 0
        return candidate

    return run_virtually(fetch())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "server",
    [
        {},
        {"says_when": True},
        {"says_rest": True},
        {"capacity": 1.0, "left": 1.0},
        {"window": 60.0},
        {"window": 60.0, "says_when": True},
    ],
    ids=["plain", "Retry-After", "headers", "no burst", "by the minute", "by the minute with Retry-After"],
)
def test_sixty_requests_a_minute(monkeypatch, server, seed):
    log = fetch_all(monkeypatch, 200, seed, **server).log
    late = [accepted for time, accepted in log if time > 60]
    assert late.count(False) < 0.05 * len(late)
    assert log[-1][0] < 300  # 200 requests are allowed in 140 to 200 s


@pytest.mark.parametrize("seed", range(3))
def test_ninety_seconds_of_refusals_fail_nothing(monkeypatch, seed):
    log = fetch_all(monkeypatch, 300, seed, capacity=1e9, left=1e9, refuses=(5.0, 95.0)).log
    assert sum(not accepted for _, accepted in log) < 60


def test_a_server_that_refuses_some_calls_whatever_their_rate_is_not_asked_ever_more_slowly(monkeypatch):
    class Unreliable(LimitedServer):
        async def answer(self, request: Request) -> Reply:
            if random.random() < 0.2:
                self.log.append((asyncio.get_running_loop().time(), False))
                raise RateLimited("overloaded", kind="HTTP 529", retry_after=0.05)
            return await super().answer(request)

    monkeypatch.setattr("test_rate_limits.LimitedServer", Unreliable)
    log = fetch_all(monkeypatch, 1500, 0, capacity=1e9, left=1e9).log
    assert log[-1][0] < 600


def test_retry_after_is_honoured(monkeypatch):
    waits = [7.0, 300.0]

    class Waiting(LimitedServer):
        async def answer(self, request: Request) -> Reply:
            self.log.append((asyncio.get_running_loop().time(), not waits))
            if waits:
                raise RateLimited("wait", kind="HTTP 429", retry_after=waits.pop(0))
            return Reply([Answer("A")])

    monkeypatch.setattr("test_rate_limits.LimitedServer", Waiting)
    first, second, third = (time for time, _ in fetch_all(monkeypatch, 1, 0).log)
    assert second - first == pytest.approx(7, abs=0.5)
    assert third - second == pytest.approx(300, abs=0.5)
