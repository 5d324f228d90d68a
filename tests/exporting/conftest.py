"""What the tests of exports share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from exported_exam import make_run
from lab_runs import make_lab

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # case sets in the shape of the papers


@pytest.fixture(scope="session")
def exam_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose case set is `../../cases`; tests only read it."""
    return make_run(tmp_path_factory.mktemp("exam"))


@pytest.fixture(scope="session")
def exam_cases(exam_run: Path) -> Path:
    return exam_run.parent.parent / "cases"


@pytest.fixture(scope="session")
def lab_runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lab's runs; tests only read it."""
    return make_lab(tmp_path_factory.mktemp("lab"))
