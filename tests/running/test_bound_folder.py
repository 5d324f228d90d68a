"""A run folder is bound to its study, and two runs may share a workspace."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer
from exam_study import examine, start, stored, write_cases, write_study

from wardround.core.errors import WardroundError
from wardround.running.used_answers import read_used


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "runs" / "exam" / "manifest.json").read_text())


def test_a_changed_study_is_refused_unless_it_is_amended_which_is_recorded(tmp_path):
    write_cases(tmp_path / "cases", 10)
    with ExamServer() as server:
        first = examine(write_study(tmp_path, server.url))
        calls = server.calls
        changed = write_study(tmp_path, server.url, top={"trials": 2})
        with pytest.raises(WardroundError, match="holds a run of another version of this study"):
            examine(changed)
        assert server.calls == calls
        second = examine(changed, amend=True)
        third = examine(changed)
    assert first["amendments"] == []
    amended = [{"from": first["study"]["hash"], "to": second["study"]["hash"]}]
    assert first["study"]["hash"] != second["study"]["hash"]
    assert second["amendments"] == third["amendments"] == manifest_of(tmp_path)["amendments"] == amended
    assert len(stored(tmp_path / "answers.sqlite")) == 20


def test_pace_prices_and_budget_may_change_without_amend(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer() as server:
        examine(write_study(tmp_path, server.url))
        faster = {"concurrency": 64, "timeout": 3, "attempts": 2, "price_in": 1.0}
        manifest = examine(write_study(tmp_path, server.url, candidate=faster, budget={"requests": 5}))
    assert manifest["amendments"] == []


def test_a_run_that_was_killed_is_bound_to_its_study_too(tmp_path):
    write_cases(tmp_path / "cases", 200)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        server.hold()

        def start_and_kill(*options: str) -> None:
            calls = server.calls
            process = start("run", study, *options, cwd=tmp_path)
            server.wait_for(lambda: server.calls > calls, process)
            process.kill()
            process.communicate()

        start_and_kill()
        first = manifest_of(tmp_path)
        assert first["status"] == "incomplete"
        write_study(tmp_path, server.url, top={"seed": 1}, conditions={"options": "shuffled"})
        with pytest.raises(WardroundError, match="another version"):
            examine(study)
        start_and_kill("--amend")
        server.release()
        manifest = examine(study)  # no second --amend: the folder is bound to what it was amended to
    assert [amendment["from"] for amendment in manifest["amendments"]] == [first["study"]["hash"]]
    assert manifest["started"] == first["started"]


def run_two_at_once(tmp_path: Path, server: ExamServer) -> dict[str, dict[str, Any]]:
    """Two studies of the same Asks, both begun before the server replies to either."""
    write_cases(tmp_path / "cases", 60)
    ended: dict[str, dict[str, Any]] = {}
    threads = []
    server.hold()
    for name in ("one", "other"):
        study = tmp_path / f"{name}.toml"
        study.write_text(write_study(tmp_path, server.url, top={"name": name}).read_text())
        threads.append(threading.Thread(target=lambda name=name, study=study: ended.update({name: examine(study)})))
        threads[-1].start()
        server.wait_for(lambda: server.held == 4)  # as many as the pace starts with
    return _join(threads, server, ended)


def _join(threads: list[threading.Thread], server: ExamServer, ended: dict[str, Any]) -> dict[str, Any]:
    server.release()
    for thread in threads:
        thread.join()
    return ended


def test_two_runs_at_once_on_one_store_buy_nothing_twice(tmp_path):
    with ExamServer() as server:
        ended = run_two_at_once(tmp_path, server)
    answers = stored(tmp_path / "answers.sqlite")
    assert len(answers) == len(server.answered) == 60
    candidates = [manifest["candidates"][0] for manifest in ended.values()]
    assert {manifest["status"] for manifest in ended.values()} == {"complete"}
    assert sum(candidate["duplicates"] for candidate in candidates) == 0
    again = len(stored(tmp_path / "answers.sqlite", "sentinels"))
    assert server.succeeded == sum(candidate["calls"] for candidate in candidates) == 60 + again
    asks = {name: set(_used(tmp_path / "runs" / name)) for name in ended}
    assert asks["one"] == asks["other"] == {ask.hex() for ask, *_ in answers}


def test_a_lease_that_has_expired_does_not_stop_another_run(tmp_path, monkeypatch):
    """The first committed row then wins, and the paid duplicate is counted."""

    @asynccontextmanager
    async def expired(*_: Any) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr("wardround.running.store.leases.Leases.hold", expired)
    write_cases(tmp_path / "cases", 4)
    ended: dict[str, dict[str, Any]] = {}
    with ExamServer() as server:
        server.hold()
        threads = []
        for name in ("one", "other"):
            study = tmp_path / f"{name}.toml"
            study.write_text(write_study(tmp_path, server.url, top={"name": name}).read_text())
            threads.append(threading.Thread(target=lambda name=name, study=study: ended.update({name: examine(study)})))
            threads[-1].start()
        server.wait_for(lambda: server.held == 8, threads=threads)
        _join(threads, server, ended)
    candidates = [manifest["candidates"][0] for manifest in ended.values()]
    assert len(stored(tmp_path / "answers.sqlite")) == 4
    assert sum(candidate["duplicates"] for candidate in candidates) == 4


def _used(folder: Path) -> list[str]:
    return read_used(folder)["ask"].to_list()


def test_a_stored_row_is_never_replaced(tmp_path):
    write_cases(tmp_path / "cases", 10)
    with ExamServer(lambda body, index: "A") as server:
        examine(write_study(tmp_path, server.url))
        first = server.url.removeprefix("http://")
    before = stored(tmp_path / "answers.sqlite")
    with ExamServer(lambda body, index: "B") as server:
        again = write_study(tmp_path, server.url, top={"name": "again"}, candidate={"same_as": [first]})
        manifest = examine(again)
        assert server.calls == 0
    assert stored(tmp_path / "answers.sqlite") == before
    assert (manifest["candidates"][0]["stored"], manifest["candidates"][0]["new"]) == (10, 0)


def test_the_same_model_name_at_another_address_is_refused_unless_the_study_says_what_it_is(tmp_path):
    write_cases(tmp_path / "cases", 10)
    with ExamServer(lambda body, index: "A") as server:
        examine(write_study(tmp_path, server.url))
        first = server.url.removeprefix("http://")
    with ExamServer(lambda body, index: "B") as server:
        with pytest.raises(WardroundError, match=f"10 stored answers of this model came from {first}, not from"):
            examine(write_study(tmp_path, server.url, top={"name": "again"}))
        manifest = examine(write_study(tmp_path, server.url, top={"name": "new"}, candidate={"revision": "2"}))
        assert manifest["candidates"][0]["new"] == 10


def test_a_study_that_selects_no_question_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, top={"questions": ["mqc", "al"]})
        with pytest.raises(WardroundError, match=r"questions = \['mqc', 'al'\]: no case has such a question"):
            examine(study)
        assert server.calls == 0


def test_calls_tokens_and_cost_are_counted_over_all_starts(tmp_path):
    write_cases(tmp_path / "cases", 30)
    with ExamServer() as server:
        for requests in (12, 24, 40):
            study = write_study(tmp_path, server.url, candidate={"price_in": 10.0}, budget={"requests": requests})
            (candidate,) = examine(study)["candidates"]
    assert (candidate["calls"], candidate["stored"], candidate["new"]) == (31, 24, 6)  # one is a sentinel
    assert candidate["tokens_in"] == 3100
    assert candidate["cost"] == pytest.approx(0.031)


def test_answers_that_another_run_bought_are_counted_separately(tmp_path):
    write_cases(tmp_path / "cases", 30)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, candidate={"price_in": 10.0})
        examine(study)
        other = write_study(tmp_path, server.url, candidate={"price_in": 10.0}, top={"name": "other"})
        (candidate,) = examine(other)["candidates"]
    assert (candidate["calls"], candidate["tokens_in"], candidate["cost"]) == (0, 0, 0)
    assert candidate["in_all"] == {
        "calls": 31,  # one is a sentinel
        "bought": 30,
        "tokens_in": 3100,
        "tokens_out": 31,
        "cost": pytest.approx(0.031),
    }


def test_the_numbers_of_stored_and_new_answers_are_noted_before_the_run(tmp_path):
    write_cases(tmp_path / "cases", 20)
    notes: list[str] = []
    with ExamServer() as server:
        examine(write_study(tmp_path, server.url, budget={"requests": 5}))
        priced = write_study(tmp_path, server.url, candidate={"price_out": 1e6}, sampling={"max_tokens": 1})
        examine(priced, amend=True, notes=notes)
    assert notes == ["stored 0 of 20; 20 new, about 20.00 USD"]  # sampling is part of the key
