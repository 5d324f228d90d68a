"""One run in which every section has something to say, written once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich_run import Rich, rich_views, write_rich_run

from wardround.reporting import read_run, report


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    folder: Path = tmp_path_factory.mktemp("rich")
    marks = write_rich_run(folder)
    page = report(folder).read_text(encoding="utf-8")
    linked = report(folder, cases=rich_views(marks), out=folder / "linked" / "report.html").read_text(encoding="utf-8")
    return Rich(read_run(folder), marks, page, linked)
