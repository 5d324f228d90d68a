"""The whole way: a candidate that looks beats those that cannot, only while the images are the case's own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from wardround.building.sources.patches import build_patches
from wardround.pipeline import run_study

STUDY = """
name = "patches"
cases = "cases"
seed = 1
offline = true
[[candidates]]
name = "pixels"
provider = "pixels"
[[candidates]]
name = "random"
provider = "random"
[[candidates]]
name = "position"
provider = "position"
[[candidates]]
name = "longest"
provider = "longest"
[[candidates]]
name = "overlap"
provider = "overlap"
[conditions]
images = ["as-is", "swapped", "blank"]
[comparisons]
seeing = { measure = "accuracy", between = "candidate", reference = "pixels" }
looking = { measure = "accuracy", between = "images", reference = "as-is" }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patches")
    build_patches(folder / "cases")
    (folder / "study.toml").write_text(STUDY)
    ended = run_study(folder / "study.toml", runs=folder / "runs", quiet=True, note=lambda line: None)
    assert ended.exit_code == 0
    return ended.folder


def test_the_candidate_that_sees_beats_every_blind_baseline(run: Path) -> None:
    seeing = pl.read_csv(run / "comparisons.csv").filter(pl.col("family") == "seeing", pl.col("n") > 0)
    assert set(seeing["a"]) == {"random", "position", "longest", "overlap"}
    assert (seeing["high"] < 0).all(), "a floor is not clearly worse than the candidate that looks"
    assert (seeing["p_adjusted"] < 0.01).all()


def test_images_of_other_cases_do_not_help(run: Path) -> None:
    measures = pl.read_csv(run / "measures.csv").filter(
        pl.col("measure") == "accuracy", pl.col("candidate") == "pixels"
    )
    by_images = {row["slice"]: row for row in measures.iter_rows(named=True)}
    for control in ("swapped", "blank"):
        result = by_images[f'{{"images":"{control}"}}']
        assert result["low"] < 0.2 < result["high"], f"{control}: chance is not inside the interval"
    assert by_images['{"images":"as-is"}']["low"] > 0.5


def test_blind_candidates_are_not_asked_conditions_that_differ_in_images_alone(run: Path) -> None:
    marks = pl.read_parquet(run / "marks.parquet").filter(pl.col("candidate") == "random")
    assert set(marks["condition"].str.json_path_match("$.images")) == {"as-is"}


def test_training_cases_are_not_examined(run: Path) -> None:
    assert set(pl.read_parquet(run / "marks.parquet")["split"]) == {"test"}
