"""Ctrl-C once: what is in flight is finished and stored. Twice: the run stops now."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from exam_server import ExamServer
from exam_study import case, examine, start, stored, wardround, write_cases, write_study
from PIL import Image

from wardround.running.run_folder import RunFolder


def until(done, process) -> None:
    while not done():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def with_images(folder: Path, count: int) -> None:
    """Cases with an image each, so that a run has worker processes."""
    (folder / "cases").mkdir()
    rng = np.random.default_rng(0)
    cases = []
    for number in range(count):
        name = f"{number}.png"
        Image.fromarray(rng.integers(0, 255, (64, 64), dtype=np.uint8)).save(folder / "cases" / name)
        cases.append(case(number, images=[{"path": name, "modality": "CT"}]))
    write_cases(folder / "cases", cases)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_once_finishes_what_is_in_flight(tmp_path, number):
    """The signal goes to the whole process group, as a terminal sends it, worker processes included."""
    with_images(tmp_path, 300)
    with ExamServer(service_seconds=0.2) as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": 8})
        process = start("run", study, "--json", cwd=tmp_path)
        until(lambda: server.succeeded >= 20, process)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "stopping: calls under way are finished" in err
    kept = len(stored(tmp_path / "answers.sqlite"))
    assert kept == server.succeeded == server.calls
    assert 20 <= kept < 300
    folder = tmp_path / "runs" / "exam"
    told = json.loads(out)
    assert (told["status"], told["why"]) == ("incomplete", "it was interrupted")
    assert "accuracy" in (folder / "measures.csv").read_text()
    assert "incomplete" in (folder / "report.html").read_text().lower()
    assert stored(tmp_path / "answers.sqlite", "sentinels") == []


def test_twice_stops_now(tmp_path):
    """The server answers no call after the tenth, so only a run that stops now can end."""
    write_cases(tmp_path / "cases", 100)
    with ExamServer(service_seconds=0.01) as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": 8, "timeout": 500})
        process = start("run", study, cwd=tmp_path)
        until(lambda: server.succeeded >= 10, process)
        server.service_seconds = 400
        calls = server.calls
        until(lambda: server.calls > calls, process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr is not None
        said = ""
        while "stopping" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said + err
    assert err.splitlines()[-1] == "wardround: stopped"
    lost = server.succeeded - len(stored(tmp_path / "answers.sqlite"))
    assert 0 <= lost <= 8, "stopping now may lose what is on its way, no more than one answer a slot"


def test_a_killed_run_leaves_no_worker_processes_behind(tmp_path):
    with_images(tmp_path, 60)
    with ExamServer(service_seconds=0.1) as server:
        process = start("run", write_study(tmp_path, server.url), cwd=tmp_path)
        until(lambda: server.succeeded >= 5, process)
        workers = group(process.pid) - {process.pid}
        assert workers
        process.kill()
        process.communicate(timeout=60)  # ends only when nobody holds its pipes any more
    while group(process.pid):
        time.sleep(0.05)


def group(leader: int) -> set[int]:
    """The processes of a process group that are alive."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, its_group = (entry / "stat").read_text().rpartition(") ")[2].split()[:3]
            except OSError:
                continue
            if int(its_group) == leader and state != "Z":
                found.add(int(entry.name))
    return found


def test_a_second_run_on_one_folder_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 60)
    with ExamServer(service_seconds=0.5) as server:
        study = write_study(tmp_path, server.url, candidate={"concurrency": 4})
        first = start("run", study, cwd=tmp_path)
        until(lambda: server.succeeded >= 1, first)
        second = wardround("run", study, cwd=tmp_path)
        os.kill(first.pid, signal.SIGINT)
        first.communicate(timeout=60)
        server.service_seconds = 0
        third = examine(study)
    with RunFolder(tmp_path / "runs" / "exam").locked():
        marking = wardround("mark", "runs/exam", cwd=tmp_path)
    assert (marking.returncode, marking.stderr) == (second.returncode, second.stderr)
    assert second.returncode == 1
    assert second.stderr == "wardround: runs/exam: another run is writing to this folder; wait for it or stop it\n"
    assert second.stdout == ""
    assert first.returncode == 130
    assert third["status"] == "complete"
    assert server.succeeded == 60 + len(stored(tmp_path / "answers.sqlite", "sentinels"))
