"""Runs under way: their progress, and stopping and resuming them."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from wardround.core.errors import WardroundError
from wardround.running.progress import PROGRESS_FILE
from wardround.view.run_list import ShownRun

LOG = "resumed.log"


def run_states(runs: Sequence[ShownRun]) -> list[dict[str, Any]]:
    """What is known of each run now."""
    return [_state(run) for run in runs]


def _state(run: ShownRun) -> dict[str, Any]:
    manifest, progress = run.manifest, read_progress(run.folder)
    is_running = is_locked(run.folder)
    return {
        "name": run.name,
        "status": "running" if is_running else manifest.get("status", "unknown"),
        "why": "" if is_running else manifest.get("why") or "",
        "started": manifest.get("started", ""),
        "finished": "" if is_running else manifest.get("finished", ""),
        "candidates": [
            {name: entry.get(name) for name in ("name", "provider", "model", "asks", "failed", "refused", "cost")}
            for entry in manifest.get("candidates", [])
        ],
        "cases": (manifest.get("cases") or {}).get("cases"),
        "has_marks": run.marks.is_file(),
        "report": (run.folder / "report.html").is_file(),
        "progress": progress if is_running else None,
        "can_resume": not is_running and manifest.get("status") == "incomplete" and bool(progress.get("study")),
    }


def read_progress(folder: Path) -> dict[str, Any]:
    """What the run last wrote about itself; empty if it never did."""
    try:
        progress = orjson.loads((folder / PROGRESS_FILE).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return progress if isinstance(progress, dict) else {}


def is_locked(folder: Path) -> bool:
    """Whether a run is writing to the folder: it holds the lock, which ends with its process."""
    try:
        with (folder / ".lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def stop_run(run: ShownRun) -> str:
    """As Ctrl-C does: calls under way are finished, then the run is marked and reported as incomplete."""
    process = read_progress(run.folder).get("process")
    if not is_locked(run.folder) or not isinstance(process, int) or not _is_our_run(process, run.folder):
        raise WardroundError(f"{run.name}: is not under way on this machine; there is nothing to stop")
    os.kill(process, signal.SIGINT)
    return "stopping when the calls under way are answered"


def _is_our_run(process: int, folder: Path) -> bool:
    """Whether the process holds this run's lock file open: a number in a file may mean another process by now."""
    try:
        opened = {os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir()}
    except OSError:
        return False
    return str((folder / ".lock").resolve()) in opened


def resume_run(run: ShownRun) -> str:
    """Starts `wardround run` again with the study, folder and store that the run was last started with."""
    progress = read_progress(run.folder)
    if is_locked(run.folder):
        raise WardroundError(f"{run.name}: is under way already")
    if not progress.get("study") or not Path(progress["study"]).is_file():
        raise WardroundError(
            f"{run.name}: its study file is not known or not there; continue it by `wardround run STUDY`"
        )
    command = [sys.executable, "-c", "from wardround.cli.main import main; main()", "run", progress["study"]]
    command += ["--runs", str(run.folder.parent), "--answers", progress["answers_store"]]
    with (run.folder / LOG).open("wb") as log:
        subprocess.Popen(
            command,
            cwd=progress.get("directory") or run.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it goes on if the explorer is stopped
        )
    return f"started again; what it prints is in {LOG} of the run's folder"
