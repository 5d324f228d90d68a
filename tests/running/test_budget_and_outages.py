"""Budgets, and servers that stop, come back or refuse the key."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import examine, stored, write_cases, write_study

from wardround.running.pacing.concurrency import Pace


@pytest.mark.parametrize("faults", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_a_budget_of_100_requests_ends_after_at_most_100_calls_and_the_next_start_continues(tmp_path, faults):
    write_cases(tmp_path / "cases", 250)
    budget = {"requests": 100}
    with ExamServer(fault_rate=faults) as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": 16}, budget=budget)
        for _ in range(2):  # the budget is that of the study, not of one start
            manifest = examine(study)
            assert server.calls <= 100
            assert manifest["status"] == "incomplete"
            assert manifest["why"].startswith("the budget of 100 requests is spent")
            assert len(stored(tmp_path / "answers.sqlite")) == server.succeeded
        while manifest["status"] == "incomplete":
            budget["requests"] += 100
            manifest = examine(write_study(tmp_path, server.url, candidate={"concurrency": 16}, budget=budget))
            assert server.calls <= budget["requests"]
    assert len(stored(tmp_path / "answers.sqlite")) == len(server.answered) == 250
    assert server.succeeded == 250 + len(stored(tmp_path / "answers.sqlite", "sentinels"))


def test_a_budget_of_tokens_or_money_stops_the_run(tmp_path):
    """A call costs 101 tokens. Calls under way are finished."""
    for budget, candidate, max_calls in (
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
        assert server.calls == max_calls


def test_a_budget_of_exactly_the_needed_requests_suffices(tmp_path):
    write_cases(tmp_path / "cases", 20)
    with ExamServer() as server:
        manifest = examine(write_study(tmp_path, server.url, budget={"requests": 20}))
    assert (manifest["status"], server.calls) == ("complete", 20)


def in_background(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def test_a_server_that_is_restarted_is_waited_for(tmp_path, monkeypatch):
    """Few attempts: those made while nobody listens do not count."""
    monkeypatch.setattr("wardround.running.caller.MAX_BACKOFF", 0.5)
    narrowed = threading.Event()  # the circuit breaker has opened
    monkeypatch.setattr(Pace, "narrow", lambda pace: narrowed.set())
    write_cases(tmp_path / "cases", 100)
    server = ExamServer()
    server.start()
    server.hold(answers=50)

    def restart() -> None:
        server.wait_for(lambda: server.held > 0)
        server.stop()
        assert narrowed.wait(60)
        server.hold(answers=1000)
        server.start()

    restarting = in_background(restart)
    try:
        manifest = examine(write_study(tmp_path, server.url, candidate={"concurrency": 16, "attempts": 3}))
    finally:
        restarting.join(60)
        server.stop()
    assert manifest["status"] == "complete"
    assert manifest["candidates"][0]["failed"] == 0
    assert manifest["candidates"][0]["faults"] > 0
    assert len(stored(tmp_path / "answers.sqlite")) == 100


def test_a_server_that_stops_for_good_is_given_up_and_its_answers_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.running.caller.MAX_SECONDS_LOST", 0.0)
    write_cases(tmp_path / "cases", 100)
    server = ExamServer()
    server.start()
    server.hold(answers=40)

    def stop() -> None:
        server.wait_for(lambda: server.held > 0)
        server.stop()

    stopping = in_background(stop)
    manifest = examine(write_study(tmp_path, server.url))
    stopping.join(60)
    assert manifest["status"] == "incomplete"
    assert "given up after" in manifest["why"]
    assert len(stored(tmp_path / "answers.sqlite")) == 40
    server.hold(answers=1000)
    server.start()
    try:
        assert examine(tmp_path / "study.toml")["status"] == "complete"
    finally:
        server.stop()
    assert len(stored(tmp_path / "answers.sqlite")) == 100


def test_a_refused_key_ends_the_candidate_and_not_the_others(tmp_path):
    write_cases(tmp_path / "cases", 30)
    with ExamServer(replying=lambda *_: web.json_response({"error": "no such key"}, status=401)) as refusing:
        floor = '[[candidates]]\nname = "floor"\nprovider = "random"'
        manifest = examine(write_study(tmp_path, refusing.url, candidate={"concurrency": 4}, more=floor))
    assert re.fullmatch(r"candidate 'server': \d times in a row: HTTP 401: no such key", manifest["why"])
    assert refusing.calls <= 6  # those that were under way
    assert len(stored(tmp_path / "answers.sqlite")) == 30
