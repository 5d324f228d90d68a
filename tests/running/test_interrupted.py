"""Ctrl-C once: calls under way are finished and stored. Twice: the run stops now. A second run is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from exam_server import ExamServer
from exam_study import case, examine, start, stored, wardround, write_cases, write_study
from PIL import Image

from wardround.running.run_folder import RunFolder


def read_until(text: str, process: subprocess.Popen[str]) -> str:
    """What the process wrote to stderr up to the line with this text."""
    assert process.stderr is not None
    lines = ""
    while text not in lines:
        line = process.stderr.readline()
        assert line, lines
        lines += line
    return lines


def with_images(folder: Path, count: int) -> None:
    """Cases with an image each that is encoded again, so that a run has worker processes."""
    (folder / "cases").mkdir()
    rng = np.random.default_rng(0)
    cases = []
    for number in range(count):
        name = f"{number}.png"
        Image.fromarray(rng.integers(0, 255, (64, 64), dtype=np.uint8)).save(folder / "cases" / name, dpi=(72, 72))
        cases.append(case(number, images=[{"path": name, "modality": "CT"}]))
    write_cases(folder / "cases", cases)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_one_interrupt_finishes_the_calls_under_way(tmp_path, number):
    """The signal goes to the whole process group, as a terminal sends it, worker processes included."""
    with_images(tmp_path, 100)
    with ExamServer() as server:
        server.hold(answers=20)
        study = write_study(tmp_path, server.url, candidate={"concurrency": 8})
        process = start("run", study, "--json", cwd=tmp_path)
        server.wait_for(lambda: server.held == 8, process)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        first_lines = read_until("stopping when the calls under way are answered", process)
        server.release()
        out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Traceback" not in first_lines + err
    assert len(stored(tmp_path / "answers.sqlite")) == server.succeeded == server.calls == 28
    folder = tmp_path / "runs" / "exam"
    manifest = json.loads(out)
    assert (manifest["status"], manifest["why"]) == ("incomplete", "it was interrupted")
    assert "accuracy" in (folder / "measures.csv").read_text()
    assert "incomplete" in (folder / "report.html").read_text().lower()
    assert stored(tmp_path / "answers.sqlite", "sentinels") == []


def test_two_interrupts_stop_now(tmp_path):
    """The server answers ten calls and no other, so only a run that stops now can end."""
    write_cases(tmp_path / "cases", 100)
    with ExamServer() as server:
        server.hold(answers=10)
        study = write_study(tmp_path, server.url, candidate={"concurrency": 8, "timeout": 500})
        process = start("run", study, cwd=tmp_path)
        server.wait_for(lambda: server.held == 4, process)  # all slots that the pace starts with
        os.killpg(process.pid, signal.SIGINT)
        first_lines = read_until("stopping", process)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Traceback" not in first_lines + err
    assert err.splitlines()[-1] == "wardround: stopped"
    assert len(stored(tmp_path / "answers.sqlite")) == server.succeeded == 10


def test_a_killed_run_leaves_no_worker_processes_behind(tmp_path):
    with_images(tmp_path, 60)
    with ExamServer() as server:
        server.hold(answers=5)
        process = start("run", write_study(tmp_path, server.url), cwd=tmp_path)
        server.wait_for(lambda: server.held > 0, process)
        assert living_processes(process.pid) > {process.pid}
        process.kill()
        process.communicate()  # ends only when nobody holds its pipes any more
    while living_processes(process.pid):  # workers that close their pipes, but have not ended yet
        time.sleep(0.01)


def living_processes(leader: int) -> set[int]:
    """The processes of a process group that are alive."""
    processes = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, its_group = (entry / "stat").read_text().rpartition(") ")[2].split()[:3]
            except OSError:
                continue
            if int(its_group) == leader and state != "Z":
                processes.add(int(entry.name))
    return processes


def test_a_second_run_on_one_folder_is_refused(tmp_path):
    write_cases(tmp_path / "cases", 60)
    with ExamServer() as server:
        server.hold(answers=1)
        study = write_study(tmp_path, server.url, candidate={"concurrency": 4})
        first = start("run", study, cwd=tmp_path)
        server.wait_for(lambda: server.held > 0, first)
        second = wardround("run", study, cwd=tmp_path)
        os.kill(first.pid, signal.SIGINT)
        read_until("stopping", first)
        server.release()
        first.communicate(timeout=600)
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
