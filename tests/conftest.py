"""Makes what tests share importable (the modules in this folder), and lists at the end what was not tried."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# there is a worker for every core: threads of one library would wait for each other (neither is loaded yet)
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# files in memory take less CPU than on a disk, where blocks are assigned and written; pytest removes them after a test
MEMORY_FOLDER = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > 2**32:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_FOLDER)

# no test depends on how fast the machine is
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

SHARING_ROOMS = ("exporting", "reporting", "view")  # files of each share a run, which one worker makes once
LONGEST_FILES = (  # by their CPU time; each takes over five seconds
    *("test_xpcr.py", "test_answers_command.py", "test_medq_deg.py", "test_plugins.py", "test_cure.py", "test_api.py"),
    *("test_clinbench.py", "test_serving.py", "test_behaviours.py", "test_local.py", "test_judge_run.py"),
    *("test_changed_cases.py", "test_marked_again.py", "test_bench_runs.py", "test_xpcr_drops.py", "test_estimates.py"),
    *("test_json_everywhere.py", "test_judge_validation.py", "test_writing.py", "test_unique_keys.py"),
    *("test_interrupted.py", "test_secrets.py", "test_packed.py", "test_selfcheck.py", "test_killed.py"),
    *("test_browser.py", "test_examples.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rooms that are one worker's and the longest files first, so that the worker processes end together."""
    places = {name: place for place, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: -1 if _sharing_room(item.nodeid) else places.get(item.path.name, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files to a worker, and all files of a room that share a run."""
    from xdist.scheduler import LoadFileScheduling

    class RoomScheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _sharing_room(nodeid) or super()._split_scope(nodeid)

    return RoomScheduling(config, log)


def _sharing_room(nodeid: str) -> str | None:
    room = nodeid.removeprefix("tests/").partition("/")[0]
    return room if room in SHARING_ROOMS else None


def pytest_collection_finish() -> None:
    """What is loaded now stays: each collection of garbage would look through all of it again, and so do few others."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session", autouse=True)
def _kept_workers() -> Iterator[None]:
    from kept_workers import KeptPool, end_workers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wardround.core.processes.ProcessPoolExecutor", KeptPool)
        yield
    end_workers()


@pytest.fixture
def own_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools start processes of their own, which end with them."""
    monkeypatch.setattr("wardround.core.processes.ProcessPoolExecutor", ProcessPoolExecutor)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line per reason for which tests were skipped."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"not tried: {count} tests: {reason}")
