"""perf/history.csv: figures are appended with their spread, and compared with those of equal options only."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))
from perf import history


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "history.csv"


def test_a_row_holds_the_median_and_the_spread_of_its_rounds(file: Path) -> None:
    with history.recording("calls", ["--rounds", "3"]):
        history.record("ours / bare", [1.5, 1.25, 2.0], file=file)

    (row,) = history.read(file)
    kept = {name: row[name] for name in ("part", "options", "figure", "value", "least", "most", "rounds")}
    assert kept == {
        "part": "calls",
        "options": "--rounds 3",
        "figure": "ours / bare",
        "value": "1.5",
        "least": "1.25",
        "most": "2",
        "rounds": "3",
    }


def test_a_figure_is_compared_with_the_last_one_of_equal_options(file: Path) -> None:
    for options, value in ((["--asks", "10"], 80.0), (["--asks", "20"], 70.0)):
        with history.recording("replay", options):
            history.record("µs", [value], file=file)

    with history.recording("replay", ["--asks", "10"]):
        before = history.record("µs", [90.0], file=file)

    assert before is not None
    assert before.startswith("80 on ")
    assert len(history.read(file)) == 3


def test_nothing_is_written_outside_of_a_part(file: Path) -> None:
    assert history.record("µs", [1.0], file=file) is None
    assert not file.exists()
