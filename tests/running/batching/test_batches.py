"""Asking by provider batches: every Ask is answered once, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from exam_server import ExamServer
from exam_study import case, wardround, write_cases, write_study

sys.path.append(str(Path(__file__).parents[2] / "candidates" / "contract"))
from batch_endpoints import (
    AnthropicBatchServer,
    BatchServer,
    GeminiBatchServer,
    OpenAIBatchServer,
    ResponsesBatchServer,
)

from wardround.core.errors import WardroundError
from wardround.pipeline import INCOMPLETE, open_study_run, run_study
from wardround.running.batching import batch_asking

SERVERS = {
    "openai": (OpenAIBatchServer, "/v1"),
    "anthropic": (AnthropicBatchServer, ""),
    "gemini": (GeminiBatchServer, "/v1beta"),
}
ITEMS = 5000
PRICES = {"price_in": 1000.0, "price_out": 2000.0}


@pytest.fixture(params=SERVERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _settings(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", BatchServer.key)
    monkeypatch.setattr(batch_asking, "FIRST_WAIT", 0.0)


def fails_once(item: str, times: int) -> bool:
    """One item in ten fails the first time."""
    return times == 0 and crc32(item.encode()) % 10 == 0


def make_study(
    folder: Path,
    provider: str,
    server: BatchServer,
    cases: Any = 40,
    *,
    batch: bool = True,
    tables: dict[str, Any] | None = None,
    **top: Any,
) -> Path:
    write_cases(folder / "cases", cases)
    settings = {
        "provider": provider,
        "base_url": server.url + SERVERS.get(provider, SERVERS["openai"])[1],
        "api_key_env": "EXAM_KEY",
        "model": "gemini-exam",
        **PRICES,
    }
    return write_study(folder, top=top, candidate=settings | {"batch": batch}, **(tables or {}))


def run(study: Path, **options: Any):
    options = {"note": lambda line: None, **options}
    return run_study(study, runs=study.parent / "runs", quiet=True, **options)


def spent(study: Path) -> list[tuple[str, int, int, int]]:
    with sqlite3.connect(study.parent / "answers.sqlite") as connection:
        return connection.execute(
            "select purpose, count(*), sum(answers), sum(duplicates) from calls group by purpose"
        ).fetchall()


def test_every_ask_is_answered_once_at_half_the_price(tmp_path, provider):
    with SERVERS[provider][0](fails=fails_once, expiring=frozenset({0})) as server:
        study = make_study(tmp_path, provider, server, trials=2)
        ended = run(study)
    assert ended.exit_code == 0
    assert set(server.answered.values()) == {1}
    [entry] = ended.manifest["candidates"]
    assert (entry["asks"], entry["bought"], entry["duplicates"]) == (80, 80, 0)
    assert entry["batches"] == len(server.batches) >= 2
    assert_half_the_price(study)
    assert [row[3] for row in spent(study) if row[0] == "batch"] == [0]


def assert_half_the_price(study: Path) -> None:
    [entry] = json.loads((study.parent / "runs" / "exam" / "manifest.json").read_text())["candidates"]
    full = (PRICES["price_in"] * entry["tokens_in"] + PRICES["price_out"] * entry["tokens_out"]) / 1e6
    full -= 2 * entry.get("saved_by_cache", 0.0)  # which is at half the price, too
    assert entry["batch_cost"] == entry["cost"] == entry["saved"] == pytest.approx(full / 2)


def test_a_detached_run_is_collected_by_the_next(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server)
        ended = run(study, detach=True)
        assert ended.exit_code == INCOMPLETE
        assert "40 Asks are in batches under way" in ended.manifest["why"]
        assert len(server.batches) == 1
        ended = run(study)
    assert ended.exit_code == 0
    assert len(server.batches) == 1
    assert set(server.answered.values()) == {1}


def test_a_run_without_the_option_collects_what_an_earlier_start_handed_over(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server, batch=False)
        run(study, batch=True, detach=True)
        ended = run(study)
    assert ended.exit_code == 0
    assert len(server.batches) == 1
    assert [purpose for purpose, *_ in spent(study)] == ["batch"]


def test_two_runs_of_one_store_submit_each_ask_once(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        studies = [make_study(tmp_path, provider, server), tmp_path / "other.toml"]
        studies[1].write_text(studies[0].read_text().replace('"exam"', '"other"', 1))
        with ThreadPoolExecutor(2) as threads:
            ends = list(threads.map(run, studies))
    assert [ended.exit_code for ended in ends] == [0, 0]
    assert set(server.answered.values()) == {1}
    assert sum(ended.manifest["candidates"][0]["bought"] for ended in ends) == 40


def test_leaving_needs_a_candidate_with_batches(tmp_path):
    write_cases(tmp_path / "cases", 2)
    study = write_study(tmp_path, candidate={"provider": "random"})
    with pytest.raises(WardroundError, match="--detach: no candidate"):
        open_study_run(study, runs=tmp_path / "runs", detach=True)


def test_a_batch_whose_confirmation_was_lost_is_not_bought_again(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        server.lose_confirmation = True
        study = make_study(tmp_path, provider, server)
        ended = run(study)
    assert ended.exit_code == 0
    assert len(server.batches) == 1
    assert set(server.answered.values()) == {1}


def test_a_chain_is_asked_stage_by_stage(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server, map(chain, range(6)))
        ended = run(study)
    assert ended.exit_code == 0
    assert len(server.batches) == 3
    assert ended.manifest["candidates"][0]["bought"] == 18


def chain(number: int) -> dict[str, Any]:
    record = case(number)
    [first] = record["questions"]
    second = first | {"id": "second", "given": ["mcq"], "prompt": "And then?"}
    third = first | {"id": "third", "given": ["mcq", "second"], "prompt": "And in the end?"}
    return record | {"questions": [first, second, third]}


def test_an_item_that_always_fails_is_asked_alone(tmp_path, provider):
    with SERVERS[provider][0](fails=lambda item, times: crc32(item.encode()) % 8 == 0) as server:
        study = make_study(tmp_path, provider, server)
        ended = run(study)
    assert ended.exit_code == 0
    assert max(server.asked.values()) == batch_asking.MAX_BATCHES_OF_AN_ITEM
    assert any(purpose == "answer" for purpose, *_ in spent(study))


def test_a_candidate_without_batches_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 2)
    study = write_study(tmp_path, candidate={"provider": "random", "batch": True})
    with pytest.raises(WardroundError, match="provider 'random' has no batches"):
        open_study_run(study, runs=tmp_path / "runs")


@pytest.mark.parametrize(
    ("provider", "reason"),
    [
        ("openai:azure", "Azure takes batches only for deployments of the type Global Batch"),
        ("anthropic:bedrock", "Bedrock takes batches only from a bucket in S3"),
        ("anthropic:vertex", "Vertex AI takes batches only from BigQuery or Cloud Storage"),
        ("gemini:vertex", "Vertex AI takes batches only from BigQuery or Cloud Storage"),
    ],
)
def test_a_host_with_batches_of_another_kind_is_refused_with_the_reason(tmp_path, provider, reason):
    write_cases(tmp_path / "cases", 2)
    candidate = {"provider": provider, "api_key_env": "EXAM_KEY", "batch": True}
    study = write_study(tmp_path, "https://host.example/v1", candidate=candidate)
    with pytest.raises(WardroundError, match=reason):
        open_study_run(study, runs=tmp_path / "runs")


def test_an_agent_is_refused_with_the_reason(tmp_path):
    write_cases(tmp_path / "cases", 2)
    tables = {"conditions": {"evidence": ["none", "agent"]}, "literature": {"index": "index"}}
    with OpenAIBatchServer() as server:
        study = make_study(tmp_path, "openai", server, tables=tables)
    with pytest.raises(WardroundError, match="an agent searches between its replies, which a batch cannot"):
        open_study_run(study, runs=tmp_path / "runs")


def test_batches_are_listed_and_cancelled(tmp_path, provider):
    with SERVERS[provider][0]() as server:
        study = make_study(tmp_path, provider, server)
        run(study, detach=True)
        listed = wardround("batches", "list", cwd=tmp_path)
        cancelled = wardround("batches", "cancel", study, cwd=tmp_path, EXAM_KEY=server.key)
        ended = run(study)
        collected = wardround("batches", "list", cwd=tmp_path)
        none = wardround("batches", "cancel", study, "--id", "batch_9", cwd=tmp_path, EXAM_KEY=server.key)
    assert "40 Asks  under way" in listed.stdout
    assert "batch_1" in cancelled.stdout
    assert cancelled.returncode == 0
    assert ended.exit_code == 0
    assert set(server.answered.values()) == {1}
    assert {line.partition(" Asks  ")[2] for line in collected.stdout.splitlines()} == {
        "collected: 0 answered, 40 failed",
        "collected: 40 answered, 0 failed",
    }
    assert (none.returncode, none.stderr.count("no such batch under way")) == (1, 1)


def test_the_responses_api_has_batches(tmp_path):
    with ResponsesBatchServer() as server:
        study = make_study(tmp_path, "openai:responses", server)
        ended = run(study)
    assert ended.exit_code == 0
    assert [purpose for purpose, *_ in spent(study)] == ["batch"]


def test_a_server_without_batches_ends_the_candidate_with_advice(tmp_path):
    with ExamServer() as server:
        write_cases(tmp_path / "cases", 2)
        ended = run(write_study(tmp_path, server.url, candidate={"batch": True}))
    assert ended.exit_code == INCOMPLETE
    assert 'for vLLM say `batch = "file"`' in ended.manifest["why"]


def test_a_judge_with_batches_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 2)
    judge = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "batch": True}
    study = write_study(tmp_path, judge=judge)
    with pytest.raises(WardroundError, match=r"\[judge\] batch: only candidates are asked by batches"):
        open_study_run(study, runs=tmp_path / "runs")


@pytest.mark.slow
def test_5000_asks_survive_five_kills(tmp_path, provider):
    """Three batches, one of which expires, one item in ten fails, and the process is killed five times."""
    program = Path(__file__).with_name("killed_batches.py")
    with SERVERS[provider][0](fails=fails_once, expiring=frozenset({1})) as server:
        study = make_study(tmp_path, provider, server, cases=ITEMS)
        for kill in ("add", "submit", "confirm", "commit", "end"):
            killed = subprocess.run([sys.executable, program, kill, study], env=os.environ, check=False)
            assert killed.returncode == -signal.SIGKILL, kill
        ended = subprocess.run([sys.executable, program, "never", study], env=os.environ, check=False)
    assert ended.returncode == 0
    assert set(server.answered.values()) == {1}
    assert len(server.answered) == ITEMS
    rows = {purpose: (answers, duplicates) for purpose, _, answers, duplicates in spent(study)}
    assert rows["batch"] == (ITEMS, 0)
    assert_half_the_price(study)
    assert wardround("answers", "verify", cwd=tmp_path).returncode == 0
