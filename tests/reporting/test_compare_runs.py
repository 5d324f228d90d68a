"""Runs side by side: only comparable figures."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from report_page import Page, lines, printed
from simulated_run import write_run

from wardround.core.errors import WardroundError
from wardround.reporting import compare


def two_runs(folder: Path, **second: object) -> tuple[Path, Path]:
    write_run(folder / "one")
    write_run(folder / "two", **{"cases": 24, "study": {"name": "shorter"}, **second})
    return folder / "one", folder / "two"


def row(page: Page, candidate: str, slice: str) -> str:
    """The first such row: that of accuracy."""
    return next(text for _, text in page.find("tr") if text.startswith(f"{candidate} {slice} "))


def test_figures_of_both_runs_are_side_by_side(tmp_path: Path) -> None:
    one, two = two_runs(tmp_path)
    page = Page(compare([one, two], tmp_path / "both.html").read_text(encoding="utf-8"))
    for slice, label in [("{}", "reference condition"), ('{"images": "as-is"}', "images as-is")]:
        texts = [
            printed(line)
            for run in (one, two)
            for line in lines(run / "measures.csv")
            if (line["measure"], line["candidate"], line["slice"]) == ("accuracy", "sharp-eyed", slice)
        ]
        text = row(page, "sharp-eyed", label)
        assert text.index(texts[0]) < text.index(texts[1])


def with_other(run: Path, field: str) -> None:
    """One candidate's figures get another value in a column."""
    table = pl.read_csv(run / "measures.csv", infer_schema=False)
    changed = pl.when(pl.col("candidate") == "sharp-eyed").then(pl.lit("other")).otherwise(pl.col(field))
    table.with_columns(changed.alias(field)).write_csv(run / "measures.csv", quote_style="necessary")


def test_figures_of_different_versions_are_not_compared(tmp_path: Path) -> None:
    one, two = two_runs(tmp_path)
    with_other(two, "version")
    page = Page(compare([one, two], tmp_path / "both.html").read_text(encoding="utf-8"))
    assert row(page, "sharp-eyed", "reference condition") == (
        "sharp-eyed reference condition not comparable: version 1 in simulated, other in shorter"
    )
    assert "not comparable" not in row(page, "random", "reference condition")


def test_figures_whose_intervals_have_different_methods_are_compared(tmp_path: Path) -> None:
    """An accuracy of .97 has Wilson's interval, one of .70 in as many cases a resampled one."""
    one, two = two_runs(tmp_path)
    before = compare([one, two], tmp_path / "both.html").read_text(encoding="utf-8")
    with_other(two, "method")
    assert compare([one, two], tmp_path / "both.html").read_text(encoding="utf-8") == before


def test_measures_and_candidates_of_one_run_only_are_named(tmp_path: Path) -> None:
    one, two = two_runs(tmp_path, rename={"random": "guess"})
    with (one / "measures.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(["brier", "random", "{}", 0.2, 0.1, 0.3, 10, 10, 0.0, 0.0, "bootstrap", "1"])
    page = Page(compare([one, two], tmp_path / "both.html").read_text(encoding="utf-8"))
    assert any(text == "Only in simulated: brier." for _, text in page.find("p"))
    assert row(page, "guess", "reference condition").startswith("guess reference condition not in this run")


def test_incomplete_runs_and_different_cases_have_an_alert(tmp_path: Path) -> None:
    runs = two_runs(tmp_path, status="incomplete", why="No money left.", cases=24)
    page = Page(compare(runs, tmp_path / "both.html").read_text(encoding="utf-8"))
    assert page.find("div", "incomplete")[0][1] == "shorter is incomplete No money left."
    assert "Not the same cases" not in page.find("body")[0][1]
    manifest = (runs[1] / "manifest.json").read_text(encoding="utf-8").replace("ab" * 32, "cd" * 32)
    (runs[1] / "manifest.json").write_text(manifest, encoding="utf-8")
    page = Page(compare(runs, tmp_path / "both.html").read_text(encoding="utf-8"))
    assert "Not the same cases" in page.find("body")[0][1]


def test_different_reference_conditions_have_an_alert(tmp_path: Path) -> None:
    runs = two_runs(tmp_path)
    page = Page(compare(runs, tmp_path / "both.html").read_text(encoding="utf-8"))
    assert "Not the same reference condition" not in page.find("body")[0][1]
    study = runs[1] / "study.toml"
    text = study.read_text(encoding="utf-8").replace(
        "[comparisons.candidates]", '[reference]\nimages = "swapped"\n\n[comparisons.candidates]'
    )
    study.write_text(text, encoding="utf-8")
    page = Page(compare(runs, tmp_path / "both.html").read_text(encoding="utf-8"))
    assert "simulated: images as-is; shorter: images swapped." in page.find("body")[0][1]


def test_runs_of_the_same_name_are_numbered(tmp_path: Path) -> None:
    one, _ = two_runs(tmp_path)
    page = Page(compare([one, one], tmp_path / "both.html").read_text(encoding="utf-8"))
    assert page.find("h1")[0][1] == "simulated (1) and simulated (2)"


def test_a_comparison_of_one_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="at least two"):
        compare([tmp_path], tmp_path / "both.html")
