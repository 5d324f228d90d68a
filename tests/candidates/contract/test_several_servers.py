"""A candidate with several servers of one model."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from exam_server import ExamServer
from exam_study import write_cases, write_study

from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.pipeline import run_study


def make_study(folder: Path, servers: list[ExamServer], cases: int = 60) -> Path:
    write_cases(folder / "cases", cases)
    return write_study(folder, servers[0].url, candidate={"base_urls": [server.url for server in servers]})


def run(study: Path):
    return run_study(study, runs=study.parent / "runs", quiet=True, note=lambda line: None)


def addresses(folder: Path) -> Counter[str]:
    with sqlite3.connect(folder / "answers.sqlite") as connection:
        return Counter(f"http://{address}" for (address,) in connection.execute("select address from answers"))


def test_all_servers_are_asked_and_the_one_that_answered_is_recorded(tmp_path):
    with ExamServer() as first, ExamServer() as second:
        ended = run(make_study(tmp_path, [first, second]))
    assert ended.exit_code == 0
    served = addresses(tmp_path)
    assert served.keys() == {first.url, second.url}
    assert served.total() == 60


def test_a_server_that_dies_costs_no_fault(tmp_path):
    with ExamServer() as first, ExamServer() as second:
        study = make_study(tmp_path, [first, second])
        second.hold(5)
        second.stop()
        ended = run(study)
    assert ended.exit_code == 0
    [entry] = ended.manifest["candidates"]
    assert entry["faults"] == 0
    assert addresses(tmp_path) == {first.url: 60}
    [warning] = [text for text in ended.manifest["warnings"] if "answered nothing" in text]
    assert second.url.removeprefix("http://") in warning


def test_a_server_that_dies_in_the_middle_is_left_and_its_calls_are_answered_by_the_other(tmp_path):
    with ExamServer() as first, ExamServer() as second:
        answering = second.answering

        def die_later(body, index):
            if second.calls == 10:
                second._loop.call_soon(second._stop.set)
            return answering(body, index)

        second.answering = die_later
        ended = run(make_study(tmp_path, [first, second]))
    assert ended.exit_code == 0
    assert ended.manifest["candidates"][0]["faults"] == 0
    assert addresses(tmp_path).total() == 60


def test_the_first_address_may_not_differ_from_base_url():
    settings = {"name": "x", "provider": "openai", "base_urls": ["http://a/v1", "http://b/v1"]}
    assert CandidateSettings.model_validate(settings).base_url == "http://a/v1"
    with pytest.raises(ValueError, match="expected different addresses"):
        CandidateSettings.model_validate(settings | {"base_url": "http://c/v1"})


def test_an_offline_study_refuses_a_server_elsewhere(tmp_path):
    write_cases(tmp_path / "cases", 1)
    urls = ["http://127.0.0.1:9/v1", "http://models.example/v1"]
    study = write_study(tmp_path, urls[0], top={"offline": True}, candidate={"base_urls": urls})
    with pytest.raises(WardroundError, match=r"models\.example/v1 is not on this machine"):
        run(study)
