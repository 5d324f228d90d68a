"""One run in which every section has something to say, written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich_run import Rich, write_rich_run
from simulated_run import write_run

from wardround.reporting import read_run, report


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    folder: Path = tmp_path_factory.mktemp("rich")
    marks = write_rich_run(folder)
    return Rich(read_run(folder), marks)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the simulated run with its report; tests only read it."""
    folder = tmp_path_factory.mktemp("simulated")
    write_run(folder)
    report(folder)
    return folder
