"""`requests_per_minute` and `tokens_per_minute`, in virtual time: the server refuses nothing, and no time is wasted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from test_caller import Store
from virtual_time import run_virtually

from wardround.candidates.candidate import OfflineCandidate, Reply, Request
from wardround.core.ask import Answer, Ask, Identity, Message, Sampling
from wardround.core.study import Budget, CandidateSettings
from wardround.running.budget import BudgetTracker
from wardround.running.caller import Caller
from wardround.running.pacing.minute_limits import limits_by_name


@dataclass
class CountingServer(OfflineCandidate):
    """Answers after a second, and notes when it was asked."""

    tokens: int = 100
    times: list[float] = field(default_factory=list)

    async def answer(self, request: Request) -> Reply:
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1.0)
        return Reply([Answer("A")], tokens_in=self.tokens)


def ask_all(monkeypatch: pytest.MonkeyPatch, asks: int, *candidates: dict[str, Any]) -> list[list[float]]:
    """The times at which each candidate was asked."""
    settings = [
        CandidateSettings(name=f"server-{number}", provider="x", model=str(number), concurrency=64, **candidate)
        for number, candidate in enumerate(candidates)
    ]

    async def ask() -> list[list[float]]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("wardround.running.caller.time", SimpleNamespace(monotonic=loop.time))
        limits, servers = limits_by_name(settings), [CountingServer(each) for each in settings]
        calls = []
        for server in servers:
            budget, shared = BudgetTracker(Budget()), limits[server.settings.name]
            caller = Caller("run", server, Store(), None, budget, shared)  # type: ignore[arg-type]
            calls += [caller.fetch(text_request(f"Question {number}")) for number in range(asks)]
        await asyncio.gather(*calls)
        return [server.times for server in servers]

    return run_virtually(ask())


def text_request(text: str) -> Request:
    ask = Ask(Identity("x"), Sampling(), (Message("user", (text,)),))
    return Request(ask, None, None, None, (), (0,))  # type: ignore[arg-type]


def most_in_a_minute(times: list[float]) -> int:
    times = sorted(times)
    return max(sum(start <= time < start + 60 - 1e-6 for time in times) for start in times)


def test_as_many_requests_are_sent_as_the_study_allows(monkeypatch):
    (times,) = ask_all(monkeypatch, 100, {"requests_per_minute": 30})
    assert most_in_a_minute(times) == 30
    assert max(times) == pytest.approx(99 * 2.0)


def test_as_many_tokens_are_used_as_the_study_allows(monkeypatch):
    """A call takes 100 tokens: 3,000 a minute are 30 calls."""
    (times,) = ask_all(monkeypatch, 100, {"tokens_per_minute": 3000})
    assert most_in_a_minute(times) <= 31
    assert max(times) < 99 * 2.0 + 20  # the first call was expected to take more


def test_candidates_with_one_key_at_one_host_share_the_lower_limit(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "0123456789")
    monkeypatch.setenv("SAME_KEY", "0123456789")
    account = {"base_url": "https://api.example/v1", "api_key_env": "LAB_KEY"}
    first, second = ask_all(
        monkeypatch,
        40,
        account | {"requests_per_minute": 30},
        account | {"api_key_env": "SAME_KEY", "requests_per_minute": 60},
    )
    assert most_in_a_minute(first + second) == 30
    assert max(first + second) == pytest.approx(79 * 2.0)


def test_candidates_with_other_keys_or_hosts_do_not_share(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "0123456789")
    monkeypatch.setenv("OTHER_KEY", "9876543210")
    limit = {"requests_per_minute": 30, "base_url": "https://api.example/v1", "api_key_env": "LAB_KEY"}
    times = ask_all(
        monkeypatch, 40, limit, limit | {"api_key_env": "OTHER_KEY"}, limit | {"base_url": "https://b.example"}
    )
    assert [max(each) for each in times] == pytest.approx([39 * 2.0] * 3)
