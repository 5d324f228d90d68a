"""Asks that begin alike: the first fills the server's prompt cache, and the others are cheaper."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import case, examine, write_cases, write_study
from test_caller import Store
from test_minute_limits import text_request
from virtual_time import run_virtually

from wardround.candidates.candidate import OfflineCandidate, Reply, Request
from wardround.core.ask import Answer
from wardround.core.study import Budget, CandidateSettings
from wardround.running.budget import BudgetTracker, price
from wardround.running.caller import Caller
from wardround.running.closing import closing_lines
from wardround.running.pacing.prefixes import MIN_TOKENS, beginning

CASES, QUESTIONS = 20, 5
LONG = "The patient coughs and has had a fever since Monday. " * 100


@dataclass
class CachingServer(OfflineCandidate):
    """Has the beginning of a prompt in its cache as soon as it has answered one."""

    cached: set[str] = field(default_factory=set)
    hits: int = 0

    async def answer(self, request: Request) -> Reply:
        text = str(request.ask.messages[0].parts[0])
        start = text[: 4 * MIN_TOKENS]
        self.hits += start in self.cached
        await asyncio.sleep(1.0)
        self.cached.add(start)
        return Reply([Answer("A")], tokens_in=len(text) // 4)


def hits(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> tuple[int, float]:
    """How many calls found their beginning in the cache, and how long all took."""

    async def ask() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("wardround.running.caller.time", SimpleNamespace(monotonic=loop.time))
        server = CachingServer(CandidateSettings(name="server", provider="x", concurrency=10, **settings))
        caller = Caller("run", server, Store(), None, BudgetTracker(Budget()))  # type: ignore[arg-type]
        numbers = range(CASES * QUESTIONS)
        requests = [text_request(f"Case {number // QUESTIONS}. {LONG} Question {number}") for number in numbers]
        assert await caller.run_all(lambda one: fetch(caller, one), requests)
        return server.hits, loop.time()

    async def fetch(caller: Caller, one: Request) -> None:
        await caller.fetch(one)

    return run_virtually(ask())


def test_every_ask_of_a_case_but_the_first_hits_the_cache_and_slots_stay_busy(monkeypatch):
    with_order, seconds = hits(monkeypatch, price_in=1.0)
    at_once, seconds_at_once = hits(monkeypatch)
    assert with_order == CASES * (QUESTIONS - 1)
    assert at_once < with_order
    assert seconds <= 1.5 * seconds_at_once


def test_short_asks_do_not_wait_for_each_other():
    assert beginning(text_request("Question").ask) is None


def test_the_manifest_says_what_the_cache_saved(tmp_path):
    """Of 1,000 input tokens 600 are cached at a tenth of the price: 54% of their price is saved."""

    def reply(body: dict[str, Any], number: int) -> web.Response:
        usage = {"prompt_tokens": 1000, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 600}}
        choices = [{"message": {"content": "A"}, "finish_reason": "stop"}]
        return web.json_response({"choices": choices, "usage": usage})

    write_cases(tmp_path / "cases", map(case, range(4)))
    with ExamServer(replying=reply) as server:
        candidate = {"price_in": 100.0, "price_cached": 10.0}
        manifest = examine(write_study(tmp_path, server.url, candidate=candidate))
    [entry] = manifest["candidates"]
    assert entry["cached_share"] == pytest.approx(0.6)
    assert entry["saved_by_cache"] == pytest.approx(entry["tokens_in"] * 100e-6 * 0.54)
    assert "60% of the input came from the server's cache, which saved" in closing_lines(manifest)[0]


def test_anthropic_writes_to_its_cache_at_a_higher_price_and_reads_at_a_lower():
    """100 new, 1,000 written at 1.25 and 2,000 read at 0.1 of 1 USD a token."""
    settings = CandidateSettings(name="claude", provider="anthropic", model="claude-opus-4-8", price_in=1e6)
    assert price(settings, 3100, 0, 2000, 1000) == pytest.approx(100 + 1250 + 200)
