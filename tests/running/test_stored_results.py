"""Marking a run from a wrong, missing or partial store never replaces its results by fewer."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer
from exam_study import case, wardround, write_cases, write_study

from wardround.api import load_run
from wardround.core.errors import WardroundError
from wardround.desk.tasks.errors import ErrorClasses
from wardround.pipeline import mark_run, report_runs, run_study
from wardround.running.store import AnswerStore

CASES = 10


def silent(line: str) -> None:
    """Takes the notes of a run."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of a run, moved away, so that a copy cannot find the first store."""
    folder = tmp_path_factory.mktemp("made")
    write_cases(folder / "first" / "cases", CASES)
    with ExamServer() as server:
        study = write_study(folder / "first", server.url)
        run_study(study, runs=folder / "first" / "runs", note=silent, quiet=True)
    return shutil.move(folder / "first", folder / "copied")


@pytest.fixture
def run_folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "runs" / "exam"


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def delete_answers(store: Path, count: int) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute(
            "delete from answers where (ask, trial, turn) in (select ask, trial, turn from answers limit ?)", (count,)
        )
    connection.close()


@pytest.mark.parametrize("command", [["mark"], ["report", "--with-cases"]])
def test_a_missing_store_is_refused_in_one_line_and_not_created(run_folder, tmp_path, command):
    before = files_of(run_folder)

    ended = wardround(*command, run_folder, "--answers", "typo.sqlite", cwd=tmp_path)

    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"wardround: typo.sqlite: there is no such answer store; name that of {run_folder} by --answers PATH"
    ]
    assert not (tmp_path / "typo.sqlite").exists()
    assert files_of(run_folder) == before


def test_answers_of_a_run_without_its_store_are_refused(run_folder, tmp_path):
    (tmp_path / "answers.sqlite").unlink()

    with pytest.raises(WardroundError, match="there is no such answer store; name that of"):
        load_run(run_folder).answers()

    assert not (tmp_path / "answers.sqlite").exists()


def test_a_plain_report_needs_no_store(run_folder, tmp_path):
    (tmp_path / "answers.sqlite").unlink()

    assert report_runs([run_folder]) == run_folder / "report.html"
    assert not (tmp_path / "answers.sqlite").exists()


@pytest.mark.parametrize("kept", [0, 1, CASES - 1])
def test_a_store_with_fewer_answers_changes_no_file(run_folder, tmp_path, kept):
    before, store = files_of(run_folder), tmp_path / "partial.sqlite"
    shutil.copyfile(tmp_path / "answers.sqlite", store)
    delete_answers(store, CASES - kept)

    ended = wardround("mark", run_folder, "--answers", store, cwd=tmp_path)

    assert ended.returncode == 3
    (line,) = ended.stderr.splitlines()
    assert f"{CASES - kept} of {CASES} used answers are not in {store}" in line
    assert "name the right store by --answers PATH" in line
    assert files_of(run_folder) == before


def test_an_empty_store_changes_no_file(run_folder, tmp_path):
    before = files_of(run_folder)
    AnswerStore(tmp_path / "other.sqlite").close()

    with pytest.raises(WardroundError, match="10 of 10 used answers are not in") as refusal:
        mark_run(run_folder, answers=tmp_path / "other.sqlite")

    assert refusal.value.exit_code == 3
    assert files_of(run_folder) == before


def test_a_run_that_was_never_marked_is_marked_as_far_as_its_answers_go_and_is_incomplete(run_folder, tmp_path):
    (run_folder / "marks.parquet").unlink()
    delete_answers(tmp_path / "answers.sqlite", 4)

    outcome = mark_run(run_folder, note=silent)

    why = f"4 of 10 used answers are not in {tmp_path / 'answers.sqlite'}"
    assert outcome.exit_code == 3
    assert (outcome.manifest["status"], outcome.manifest["why"]) == ("incomplete", why)
    assert len(load_run(run_folder).marks) == 6
    assert why in (run_folder / "report.html").read_text()


def test_the_answers_that_came_back_complete_a_run_again(run_folder, tmp_path):
    (run_folder / "marks.parquet").unlink()
    shutil.copyfile(tmp_path / "answers.sqlite", tmp_path / "whole.sqlite")
    delete_answers(tmp_path / "answers.sqlite", 4)
    mark_run(run_folder, note=silent)

    outcome = mark_run(run_folder, answers=tmp_path / "whole.sqlite", note=silent)

    assert (outcome.exit_code, outcome.manifest["status"], outcome.manifest["why"]) == (0, "complete", None)
    assert len(load_run(run_folder).marks) == 10


def test_case_pages_and_answers_of_a_partial_store_are_refused(run_folder, tmp_path):
    delete_answers(tmp_path / "answers.sqlite", 1)

    with pytest.raises(WardroundError, match="1 of 10 used answers are not in"):
        report_runs([run_folder], with_cases=True)
    with pytest.raises(WardroundError, match="lacks the answer of server to case-"):
        load_run(run_folder).answers()[:]
    assert not (run_folder / "cases").exists()


def test_a_task_of_the_desk_refuses_a_partial_store(run_folder, tmp_path):
    delete_answers(tmp_path / "answers.sqlite", 5)

    with pytest.raises(WardroundError, match="5 of 10 used answers are not in"):
        ErrorClasses().make_items(run_folder, {"readers": 1, "many": 0, "seed": 0}, tmp_path)


def test_verdicts_are_not_replaced_by_none_if_the_judge_cannot_be_asked(tmp_path):
    question = {"id": "dx", "kind": "open", "prompt": "What is it?", "gold": "gout"}
    write_cases(tmp_path / "cases", [case(number, questions=[question]) for number in range(4)])
    with ExamServer(lambda body, index: "1. gout") as server, ExamServer(lambda body, index: "Yes") as judge:
        settings = {"provider": "openai", "base_url": judge.url, "model": "judge", "attempts": 1}
        study = write_study(tmp_path, server.url, judge=settings)
        folder = run_study(study, runs=tmp_path / "runs", note=silent, quiet=True).folder
    assert set(load_run(folder).marks["outcome"]) == {"right"}
    with sqlite3.connect(tmp_path / "answers.sqlite") as connection:
        connection.execute("delete from answers where cast(body as text) like '%Yes%'")
    connection.close()
    before = files_of(folder)

    with pytest.raises(WardroundError, match="4 of its earlier verdicts are not in the store") as refusal:
        mark_run(folder, note=silent)

    assert refusal.value.exit_code == 3
    assert files_of(folder) == before


def change_answers(store: Path) -> None:
    """Other answers to the same Asks, as another server would have given."""
    with sqlite3.connect(store) as connection:
        connection.execute('update answers set body = cast(\'{"text":"D","finish":"stop"}\' as blob)')
    connection.close()


def test_other_answers_to_the_same_asks_are_refused_and_nothing_changes(run_folder, tmp_path):
    other = tmp_path / "other.sqlite"
    AnswerStore(tmp_path / "answers.sqlite").close()  # what is in its journal is in the file now
    shutil.copy(tmp_path / "answers.sqlite", other)
    change_answers(other)
    before = files_of(run_folder)

    for command in (["mark"], ["report", "--with-cases"]):
        ended = wardround(*command, run_folder, "--answers", "other.sqlite", cwd=tmp_path)
        assert ended.returncode == 3
        assert "the answers in other.sqlite are not those that this run used" in ended.stderr
    with pytest.raises(WardroundError, match="are not those that this run used"):
        load_run(run_folder, answers=other).answers()

    assert files_of(run_folder) == before
    assert mark_run(run_folder, note=silent).exit_code == 0


def test_an_empty_file_is_no_store(run_folder, tmp_path):
    (tmp_path / "empty.sqlite").touch()
    ended = wardround("mark", run_folder, "--answers", "empty.sqlite", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (1, "wardround: empty.sqlite: is an empty file, not an answer store\n")
    assert (tmp_path / "empty.sqlite").stat().st_size == 0


def test_a_run_with_another_store_than_its_own_buys_nothing_again(tmp_path):
    write_cases(tmp_path / "cases", CASES)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        run_study(study, runs=tmp_path / "runs", note=silent, quiet=True)
        calls = server.calls
        other = tmp_path / "typo.sqlite"
        with pytest.raises(WardroundError, match=f"this run used {CASES} answers that are not in "):
            run_study(study, runs=tmp_path / "runs", answers=other, note=silent, quiet=True)
        assert server.calls == calls
        run_study(study, runs=tmp_path / "runs", answers=other, amend=True, note=silent, quiet=True)
        assert server.calls > calls
