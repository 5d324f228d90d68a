"""Batches and money: they reserve the most that they may take, and fit the budget and the provider's queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_batches import PRICES, SERVERS, make_study, run, spent

from wardround.core.errors import WardroundError
from wardround.pipeline import INCOMPLETE, open_study_run
from wardround.running.batching import batch_asking
from wardround.running.closing import closing_lines


@pytest.fixture(params=SERVERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _settings(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", SERVERS["openai"][0].key)
    monkeypatch.setattr(batch_asking, "FIRST_WAIT", 0.0)


def limited_study(folder: Path, provider: str, server: Any, **budget: float) -> Path:
    return make_study(folder, provider, server, tables={"sampling": {"max_tokens": 100}, "budget": budget})


def test_waves_fit_the_budget_and_what_is_left_over_ends_the_run(tmp_path, provider):
    """An item is billed 100 tokens and at most 12: of 1,500 tokens, a wave reserves no more than is left."""
    with SERVERS[provider][0]() as server:
        study = limited_study(tmp_path, provider, server, tokens=1500)
        ended = run(study)
    [entry] = ended.manifest["candidates"]
    assert ended.exit_code == INCOMPLETE
    assert "leaves too little for another Ask" in ended.manifest["why"]
    assert 0 < entry["tokens_in"] + entry["tokens_out"] <= 1500
    assert len(server.batches) > 1
    assert [purpose for purpose, *_ in spent(study)] == ["batch"]


def test_a_budget_of_money_counts_batches_at_their_price_and_thinking_with_the_answer(tmp_path):
    """A thinking reply may take 100 + 8,192 tokens at 1 USD each: 9,000 USD buy one at a time at half the price."""
    with SERVERS["anthropic"][0]() as server:
        study = make_study(
            tmp_path,
            "anthropic",
            server,
            3,
            tables={
                "sampling": {"max_tokens": 100},
                "conditions": {"reasoning": "on"},
                "budget": {"money": 9000 * 1e-6 * PRICES["price_out"] / 2},
            },
        )
        ended = run(study)
    assert ended.exit_code == 0
    assert server.sizes == [1, 1, 1]


def test_a_detached_run_keeps_what_it_reserved(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = limited_study(tmp_path, provider, server, tokens=1500)
        first = run(study, detach=True)
        second = run(study, detach=True)
    assert "wait for room" in first.manifest["why"]
    assert second.manifest["why"] == first.manifest["why"]
    assert len(server.batches) == 1


def test_a_budget_of_requests_counts_items_under_way(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server, tables={"budget": {"requests": 25}})
        run(study, detach=True)
        ended = run(study)
    assert ended.exit_code == INCOMPLETE
    assert sum(server.answered.values()) == 25


def test_a_budget_of_money_needs_a_limit_of_replies(tmp_path):
    with SERVERS["openai"][0]() as server:
        study = make_study(tmp_path, "openai", server, tables={"budget": {"money": 1.0}})
    with pytest.raises(WardroundError, match="set max_tokens"):
        open_study_run(study, runs=tmp_path / "runs")


def test_a_batch_that_is_too_much_for_the_queue_is_split_and_submitted_later(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        server.max_enqueued = 12
        study = make_study(tmp_path, provider, server)
        ended = run(study)
    assert ended.exit_code == 0
    assert server.sizes[:3] == [40, 20, 10]
    assert set(server.answered.values()) == {1}
    assert [purpose for purpose, *_ in spent(study)] == ["batch"]


def test_a_queue_without_room_for_one_ask_ends_the_candidate(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        server.max_enqueued = 0
        study = make_study(tmp_path, provider, server)
        ended = run(study)
    assert ended.exit_code == INCOMPLETE
    assert "no room for a batch of one Ask" in ended.manifest["why"]
    assert not server.answered


def test_price_and_saving_are_announced_and_recorded(tmp_path, provider):
    notes: list[str] = []
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server, tables={"sampling": {"max_tokens": 12}})
        ended = run(study, note=notes.append)
    [entry] = ended.manifest["candidates"]
    assert any("by batches, which saves" in line for line in notes)
    assert entry["batch_cost"] == entry["cost"] == entry["saved"] > 0
    assert entry["estimate"]["saved"] == pytest.approx(entry["estimate"]["cost"])
    assert f"batches saved {entry['saved']:.2f} USD" in closing_lines(ended.manifest)[0]
    assert "saved by batches" in (ended.folder / "report.html").read_text()
