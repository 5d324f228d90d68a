"""One run in which every section has something to say, written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich_run import Rich, write_rich_run

from wardround.reporting import read_run


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    folder: Path = tmp_path_factory.mktemp("rich")
    marks = write_rich_run(folder)
    return Rich(read_run(folder), marks)
