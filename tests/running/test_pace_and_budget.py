"""Pace, budget, and servers that come and go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import examine, stored, write_cases, write_study

from wardround.running.caller import Caller


@pytest.fixture
def callers(monkeypatch) -> list[Caller]:
    """The callers that examinations make while a test runs."""
    made: list[Caller] = []
    make = Caller.__init__

    def remembered(self: Caller, *arguments: Any) -> None:
        make(self, *arguments)
        made.append(self)

    monkeypatch.setattr(Caller, "__init__", remembered)
    return made


def test_a_server_that_takes_eight_at_once_is_soon_given_eight(tmp_path, callers):
    write_cases(tmp_path / "cases", 1200)
    with ExamServer(capacity=8, service_seconds=0.02) as server:
        manifest = examine(write_study(tmp_path, server.url, candidate={"concurrency": 64}))
    assert manifest["status"] == "complete"
    late = [number for number in server.refused if number > 200]
    assert len(late) < 0.05 * (server.calls - 200)
    assert server.most_at_once == 8
    assert 7 <= callers[0].pace.limit <= 10


def test_a_server_that_copes_with_everything_gets_all_the_concurrency(tmp_path, callers):
    write_cases(tmp_path / "cases", 600)
    with ExamServer(service_seconds=0.1) as server:
        examine(write_study(tmp_path, server.url, candidate={"concurrency": 40}))
    assert callers[0].pace.limit == 40
    assert 30 <= server.most_at_once <= 40


def test_retry_after_is_honoured(tmp_path, monkeypatch):
    pauses: list[float] = []

    async def noted(self: Caller, seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(Caller, "_pause", noted)
    told = ["7", "0", "0", "0", "300"]

    def reply(body: dict[str, Any], number: int) -> web.Response | None:
        return web.Response(status=429, headers={"Retry-After": told[number - 1]}) if number <= len(told) else None

    write_cases(tmp_path / "cases", 1)
    with ExamServer(replying=reply) as server:
        assert examine(write_study(tmp_path, server.url))["status"] == "complete"
    waits = pauses[1::2]  # after each fault its slot is held for a moment, then the ask waits
    assert (waits[0], waits[4]) == (7, 300)
    assert all(0 < least <= wait <= 2 * least for least, wait in zip((0.25, 0.5, 1.0), waits[1:4], strict=True))


@pytest.mark.parametrize("faults", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_a_budget_of_100_requests_ends_with_at_most_100_calls_and_the_next_run_goes_on(tmp_path, faults):
    write_cases(tmp_path / "cases", 250)
    budget = {"requests": 100}
    with ExamServer(fault_rate=faults, hang_seconds=10) as server:
        candidate = {"timeout": 2.0, "concurrency": 16}
        study = write_study(tmp_path, server.url, candidate=candidate, budget=budget)
        before = 0
        for _ in range(2):
            manifest = examine(study)
            assert server.calls - before <= 100
            before = server.calls
            assert (manifest["status"], manifest["why"]) == ("incomplete", "the budget of 100 requests is spent")
            assert len(stored(tmp_path / "answers.sqlite")) == server.succeeded
        while manifest["status"] == "incomplete":
            manifest = examine(study)
            assert server.calls - before <= 100
            before = server.calls
    assert len(stored(tmp_path / "answers.sqlite")) == len(server.answered) == 250
    assert server.succeeded == 250 + len(stored(tmp_path / "answers.sqlite", "sentinels"))


def test_budgets_in_tokens_and_money(tmp_path):
    """A call of the server costs 101 tokens; what is under way when the budget is reached may finish."""
    for budget, candidate, most in (
        ({"tokens": 1000}, {}, 10),
        ({"money": 0.002}, {"price_in": 10.0, "price_out": 1000.0}, 1),
    ):
        folder = tmp_path / next(iter(budget))
        write_cases(folder / "cases", 50)
        with ExamServer() as server:
            study = write_study(folder, server.url, candidate={"concurrency": 1, **candidate}, budget=budget)
            manifest = examine(study)
        assert manifest["status"] == "incomplete"
        assert next(iter(budget)) in manifest["why"]
        assert server.calls == most


def test_a_budget_that_is_just_enough_is_enough(tmp_path):
    write_cases(tmp_path / "cases", 20)
    with ExamServer() as server:
        manifest = examine(write_study(tmp_path, server.url, budget={"requests": 20}))
    assert (manifest["status"], server.calls) == ("complete", 20)


def when(done: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """Does something once something else is so."""

    def watch() -> None:
        while not done():
            time.sleep(0.005)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_a_server_that_dies_for_a_while_is_waited_for(tmp_path, callers):
    write_cases(tmp_path / "cases", 400)
    server = ExamServer(service_seconds=0.005)
    server.start()

    def away_for_a_while() -> None:
        server.stop()
        while callers[0].pace.limit > 1:  # until the breaker has opened
            time.sleep(0.01)
        time.sleep(1.0)
        server.start()

    # few attempts: those made while nobody is there do not count
    study = write_study(tmp_path, server.url, candidate={"concurrency": 16, "attempts": 3})
    away = when(lambda: server.succeeded > 150, away_for_a_while)
    try:
        manifest = examine(study)
    finally:
        away.join(20)
        server.stop()
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["failed"] == 0
    assert manifest["candidates"][0]["faults"] > 0
    assert len(stored(tmp_path / "answers.sqlite")) == 400


def test_a_server_that_goes_for_good_is_given_up_and_what_was_answered_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.running.caller.LOST_SECONDS", 1.0)
    write_cases(tmp_path / "cases", 300)
    server = ExamServer(service_seconds=0.005)
    server.start()
    gone = when(lambda: server.succeeded > 100, server.stop)
    manifest = examine(write_study(tmp_path, server.url))
    gone.join(20)
    assert manifest["status"] == "incomplete"
    assert "cannot be reached" in manifest["why"]
    kept = len(stored(tmp_path / "answers.sqlite"))
    assert 100 < kept < 300
    server.start()
    try:
        assert examine(tmp_path / "study.toml")["status"] == "complete"
    finally:
        server.stop()
    assert len(stored(tmp_path / "answers.sqlite")) == 300


def test_a_key_that_is_refused_ends_the_candidate_and_not_the_others(tmp_path):
    write_cases(tmp_path / "cases", 30)
    with ExamServer(replying=lambda *_: web.json_response({"error": "no such key"}, status=401)) as refusing:
        floor = '[[candidates]]\nname = "floor"\nprovider = "random"'
        manifest = examine(write_study(tmp_path, refusing.url, candidate={"concurrency": 4}, more=floor))
    assert manifest["why"] == "candidate 'server': HTTP 401: no such key"
    assert refusing.calls <= 4
    assert len(stored(tmp_path / "answers.sqlite")) == 30
