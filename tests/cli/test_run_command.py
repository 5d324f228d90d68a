"""`wardround check` and `wardround run` as commands: exit codes, output folders, messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer
from exam_study import stored, write_cases, write_study

from wardround import __version__
from wardround.cli.main import main


@pytest.fixture
def wardround(tmp_path, monkeypatch, capfd) -> Callable[..., tuple[int, Any, str]]:
    """Runs the command with --json in this process: exit code, document, stderr."""
    monkeypatch.chdir(tmp_path)
    write_cases(tmp_path / "cases", 40)

    def run(*arguments: object) -> tuple[int, Any, str]:
        monkeypatch.setattr("sys.argv", ["wardround", *map(str, arguments), "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capfd.readouterr()
        assert "Traceback" not in output.err
        return int(ended.value.code or 0), json.loads(output.out) if output.out else None, output.err

    return run


def test_a_spent_budget_is_exit_3_with_measures_and_a_larger_one_goes_on(wardround, tmp_path):
    with ExamServer() as server:
        write_study(tmp_path, server.url, budget={"requests": 25})
        code, document, _ = wardround("run", "study.toml")
        assert (code, document["status"], document["why"]) == (3, "incomplete", "the budget of 25 requests is spent")
        assert server.calls == 25
        measures = (tmp_path / "runs" / "exam" / "measures.csv").read_text()
        assert ",25," in next(line for line in measures.splitlines() if line.startswith("accuracy,"))
        write_study(tmp_path, server.url, budget={"requests": 60})
        code, document, err = wardround("run", "study.toml")
        assert (code, document["status"], document["why"]) == (0, "complete", None)
        assert "stored 25 of 40; 15 new" in err
    assert len(stored(tmp_path / "answers.sqlite")) == 40


def test_check_counts_new_asks_and_stores_its_own(wardround, tmp_path):
    with ExamServer() as server:
        candidate = {"price_in": 1.0, "price_out": 2.0}
        floor = '[[candidates]]\nname = "floor"\nprovider = "random"'
        write_study(tmp_path, server.url, candidate=candidate, sampling={"max_tokens": 10}, more=floor)
        code, document, _ = wardround("check", "study.toml")
        assert code == 0
        assert (document["cases"], document["questions"]) == (40, 40)
        assert document["announced"].startswith("stored 24 of 80; 56 new, about 0.")
        served, guessing = document["candidates"]
        assert (served["answers"], served["new"], served["models"]) == (True, 28, ["exam-model"])
        assert served["tokens_out"] == 28  # each reply had one token
        assert served["cost"] == pytest.approx((served["tokens_in"] + 2 * 28) / 1e6)
        assert (guessing["answers"], guessing["cost"], guessing["tokens_in"]) == (True, 0, 0)
        assert served["replies"]["units"] == 12
        assert server.calls == 12 + served["probe_calls"] == 13  # one tries max_tokens
        _, _, err = wardround("run", "study.toml")
        assert "stored 24 of 80; 56 new" in err
        calls = server.calls
        code, document, _ = wardround("check", "study.toml")  # all is stored, but the server is still asked once
        assert (code, document["candidates"][0]["new"], server.calls) == (0, 0, calls + 1)
    code, document, _ = wardround("check", "study.toml")
    assert code == 3
    assert document["candidates"][0]["answers"] is False
    assert "cannot be reached" in document["candidates"][0]["why"]


def test_a_frozen_study_shows_what_was_changed_after(wardround, tmp_path):
    with ExamServer() as server:
        write_study(tmp_path, server.url)
        code, document, _ = wardround("check", "study.toml", "--freeze")
        assert code == 0
        assert set(document["frozen"]) == {"study", "cases", "comparisons"}
        wardround("run", "study.toml")
        manifest = tmp_path / "runs" / "exam" / "manifest.json"
        assert json.loads(manifest.read_text())["exploratory"] == []
        write_study(tmp_path, server.url, top={"trials": 2})
        code, _, err = wardround("run", "study.toml")
        assert (code, "another version of this study" in err) == (1, True)
        code, _, _ = wardround("run", "study.toml", "--amend")
        assert code == 0
        assert json.loads(manifest.read_text())["exploratory"] == ["study"]
        code, _, err = wardround("check", "study.toml", "--freeze")
        assert (code, "frozen already" in err) == (1, True)


def test_runs_and_answers_are_written_to_the_given_paths(wardround, tmp_path):
    with ExamServer() as server:
        write_study(tmp_path, server.url)
        assert wardround("run", "study.toml", "--runs", "there/runs")[0] == 0
        assert (tmp_path / "there" / "answers.sqlite").exists()
        assert (tmp_path / "there" / "runs" / "exam" / "report.html").exists()
        calls = server.calls
        assert wardround("run", "study.toml", "--answers", "there/answers.sqlite")[0] == 0
        assert (tmp_path / "runs" / "exam" / "report.html").exists()
        assert server.calls == calls
    assert not (tmp_path / "answers.sqlite").exists()


def test_a_study_may_name_a_file_of_cases_by_any_name(wardround, tmp_path):
    (tmp_path / "cases" / "cases.jsonl").rename(tmp_path / "cases" / "hard.jsonl")
    with ExamServer() as server:
        write_study(tmp_path, server.url, top={"cases": "cases/hard.jsonl"})
        assert wardround("run", "study.toml")[0] == 0
    assert wardround("mark", "runs/exam")[0] == 0


def test_a_study_may_begin_with_a_byte_order_mark_and_end_its_lines_as_windows_does(wardround, tmp_path):
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        study.write_bytes(b"\xef\xbb\xbf" + study.read_bytes().replace(b"\n", b"\r\n"))
        assert wardround("run", "study.toml")[0] == 0
    assert wardround("mark", "runs/exam")[0] == 0


def test_marks_and_measures_are_the_same_from_a_packed_run_without_its_workspace(wardround, tmp_path):
    with ExamServer() as server:
        write_study(tmp_path, server.url, top={"trials": 3})
        assert wardround("run", "study.toml", "--pack")[0] == 0
    folder = tmp_path / "runs" / "exam"
    before = {name: (folder / name).read_bytes() for name in ("measures.csv", "comparisons.csv", "marks.parquet")}
    for file in tmp_path.glob("answers.sqlite*"):
        file.unlink()
    moved = Path("elsewhere")
    folder.rename(moved)
    assert wardround("mark", moved)[0] == 0
    assert {name: (moved / name).read_bytes() for name in before} == before


def test_progress_is_plain_text_without_a_terminal(wardround, tmp_path):
    with ExamServer(lambda body, index: "no idea") as server:
        write_study(tmp_path, server.url, candidate={"price_in": 1000.0})
        _, _, err = wardround("run", "study.toml")
    lines = err.splitlines()
    assert "\x1b" not in err
    assert "\r" not in err
    progress = [line for line in lines if "40/40" in line][-1]  # a slow machine may print it twice
    for part in ("/s", "4,040 tokens", "4.00 USD", "0 faults", "100.0% unparsed"):
        assert part in progress


def test_the_version_is_printed(monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["wardround", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capfd.readouterr().out) == (0, f"wardround {__version__}\n")
