"""A run folder is bound to its study, and two runs may share a workspace."""

from __future__ import annotations

import json
import threading
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


def test_two_runs_share_a_workspace_and_the_first_committed_row_wins(tmp_path):
    """Both servers reply only when both have the same calls under way; their answers differ."""
    write_cases(tmp_path / "cases", 60)
    ended: dict[str, dict[str, Any]] = {}
    with (
        ExamServer(lambda body, index: "A") as one,
        ExamServer(lambda body, index: "B") as other,
    ):
        threads = []
        for name, server in (("one", one), ("other", other)):
            server.hold()
            study = tmp_path / f"{name}.toml"
            study.write_text(write_study(tmp_path, server.url, top={"name": name}).read_text())
            threads.append(threading.Thread(target=lambda name=name, study=study: ended.update({name: examine(study)})))
        for thread in threads:
            thread.start()
        for server in (one, other):
            server.wait_for(lambda server=server: server.held == 4)  # as many as the pace starts with
        for server in (one, other):
            server.release()
        for thread in threads:
            thread.join()
    answers = stored(tmp_path / "answers.sqlite")
    assert len(answers) == 60
    candidates = [manifest["candidates"][0] for manifest in ended.values()]
    assert {manifest["status"] for manifest in ended.values()} == {"complete"}
    calls = sum(candidate["calls"] for candidate in candidates)
    duplicates = sum(candidate["duplicates"] for candidate in candidates)
    assert duplicates >= 4
    assert calls == 60 + duplicates
    again = len(stored(tmp_path / "answers.sqlite", "sentinels"))
    assert one.succeeded + other.succeeded == calls + again
    asks = {name: set(_used(tmp_path / "runs" / name)) for name in ended}
    assert asks["one"] == asks["other"] == {ask.hex() for ask, *_ in answers}


def _used(folder: Path) -> list[str]:
    return read_used(folder)["ask"].to_list()


def test_a_stored_row_is_never_replaced(tmp_path):
    write_cases(tmp_path / "cases", 10)
    with ExamServer(lambda body, index: "A") as server:
        examine(write_study(tmp_path, server.url))
    before = stored(tmp_path / "answers.sqlite")
    with ExamServer(lambda body, index: "B") as server:
        again = write_study(tmp_path, server.url, top={"name": "again"})
        manifest = examine(again)
        assert server.calls == 0
    assert stored(tmp_path / "answers.sqlite") == before
    assert (manifest["candidates"][0]["stored"], manifest["candidates"][0]["new"]) == (10, 0)


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
        study = write_study(tmp_path, server.url, candidate={"price_in": 10.0}, budget={"requests": 12})
        manifests = [examine(study) for _ in range(3)]
    (candidate,) = manifests[-1]["candidates"]
    assert (candidate["calls"], candidate["stored"], candidate["new"]) == (30, 24, 6)
    assert candidate["tokens_in"] == 3000
    assert candidate["cost"] == pytest.approx(0.03)


def test_answers_that_another_run_bought_are_counted_separately(tmp_path):
    write_cases(tmp_path / "cases", 30)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, candidate={"price_in": 10.0})
        examine(study)
        other = write_study(tmp_path, server.url, candidate={"price_in": 10.0}, top={"name": "other"})
        (candidate,) = examine(other)["candidates"]
    assert (candidate["calls"], candidate["tokens_in"], candidate["cost"]) == (0, 0, 0)
    assert candidate["in_all"] == {
        "calls": 30,
        "bought": 30,
        "tokens_in": 3000,
        "tokens_out": 30,
        "cost": pytest.approx(0.03),
    }


def test_the_numbers_of_stored_and_new_answers_are_noted_before_the_run(tmp_path):
    write_cases(tmp_path / "cases", 20)
    notes: list[str] = []
    with ExamServer() as server:
        examine(write_study(tmp_path, server.url, budget={"requests": 5}))
        priced = write_study(tmp_path, server.url, candidate={"price_out": 1e6}, sampling={"max_tokens": 1})
        examine(priced, amend=True, notes=notes)
    assert notes == ["stored 0 of 20; 20 new, about 20.00 USD"]  # sampling is part of the key
