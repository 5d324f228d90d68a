"""One run with images, chains, degraded questions and three trials, made once; copied by tests that change it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from explored_run import write_explored_run


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder; nothing may be written to it."""
    return write_explored_run(tmp_path_factory.mktemp("explored"))


@pytest.fixture
def copied_run(explored: Path, tmp_path: Path) -> Callable[[], Path]:
    """Gives a copy of the run with its cases and answers."""

    def copy() -> Path:
        shutil.copytree(explored.parent.parent, tmp_path / "copy")
        return tmp_path / "copy" / "runs" / explored.name

    return copy
