"""A run that is killed and started again loses no stored answer, and pays for few answers twice."""

from __future__ import annotations

import random
import signal
import sqlite3
import sys
from pathlib import Path

import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import examine, start, stored, wardround, write_cases, write_study

ASKS, CONCURRENCY, SEED = 300, 16, 4711
DYING = [sys.executable, str(Path(__file__).with_name("dying_run.py"))]
TABLES = ("used.parquet", "marks.parquet", "measures.csv", "comparisons.csv", "report.html", "manifest.json")


def kill_after(server: ExamServer, answers: int, study: Path) -> None:
    """Starts the command, and kills it when the server has given so many answers in all; it cannot get many more."""
    server.hold(answers + CONCURRENCY)
    process = start("run", study, cwd=study.parent)
    try:
        server.wait_for(lambda: server.succeeded >= answers, process)
    finally:
        process.kill()
        process.communicate()
        server.release()


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_again_and_again_ends_like_one_that_was_not(tmp_path, kills):
    """So many times by a signal while it asks, then while it commits, and while it marks."""
    print("seed of the moments:", SEED)
    moments = sorted(random.Random(SEED).sample(range(30, ASKS - 60), kills))
    write_cases(tmp_path / "cases", ASKS)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": CONCURRENCY})
        store = tmp_path / "answers.sqlite"
        safe: list[tuple] = []
        for number, moment in enumerate(moments):
            kill_after(server, moment, study)
            safe = check(store, safe, server.succeeded - (number + 1) * CONCURRENCY)
        dead = wardround("commit", "run", study, cwd=tmp_path, command=DYING)
        assert dead.returncode == -signal.SIGKILL
        safe = check(store, safe, server.succeeded - (kills + 1) * CONCURRENCY)
        dead = wardround("marking", "run", study, cwd=tmp_path, command=DYING)
        assert dead.returncode == -signal.SIGKILL
        safe = check(store, safe, ASKS)
        assert not (tmp_path / "runs" / "exam" / "marks.parquet").exists()
        calls = server.calls

        ended = wardround("run", study, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert server.calls == calls  # everything was answered, sentinels included
    assert len(stored(store)) == ASKS == len(server.answered)
    again = len(stored(store, "sentinels"))
    assert server.succeeded <= ASKS + (kills + 2) * CONCURRENCY + again
    folder = tmp_path / "runs" / "exam"
    assert all((folder / name).exists() for name in TABLES)
    assert pl.read_parquet(folder / "marks.parquet").height == ASKS

    untouched = tmp_path / "untouched"
    write_cases(untouched / "cases", ASKS)
    with ExamServer() as server:
        examine(write_study(untouched, server.url))
    assert stored(store) == stored(untouched / "answers.sqlite")


def check(store: Path, safe: list[tuple], least: int) -> list[tuple]:
    """The store is sound, and has all earlier rows and all that must have been committed."""
    connection = sqlite3.connect(store)
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()
    rows = stored(store)
    assert set(safe) <= set(rows)
    assert len(rows) >= least
    return rows


@pytest.mark.slow
def test_the_dying_run_survives_if_no_death_is_planted(tmp_path):
    write_cases(tmp_path / "cases", 3)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url)
        ended = wardround("never", "run", study, cwd=tmp_path, command=DYING)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
