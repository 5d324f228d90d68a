"""Lets tests import the oracles, which know nothing of wardround.measuring; and marks of all kinds, measured."""

import sys
from pathlib import Path

import polars as pl
import pytest
from made_marks import NAMES, all_kinds

from wardround.measuring import measure
from wardround.measuring.engine import compiled

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))


@pytest.fixture(scope="session")
def whole() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Marks that have every measure, and their measures."""
    marks, study = all_kinds(NAMES)
    return marks, measure(marks, study)


@pytest.fixture(params=[False, True], ids=["numpy", "loops"])
def with_and_without_loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with NumPy alone, as a small study, and once with compiled loops."""
    monkeypatch.setattr(compiled, "_uses_loops", request.param)
