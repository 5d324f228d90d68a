"""Tables from a run folder that was written by hand: which line of which file stands in which cell."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from wardround.measuring.engine import tables
from wardround.reporting.absence import MEANINGS
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.tables.measured import ColumnSpec, measured_table

STUDY = """name = "made"
cases = "made"
[conditions]
inputs = ["history"]
images = ["as-is", "none"]
"""


def line(measure: str, slice: dict[str, str], value: float | None, *, version: str = "1", candidate: str = "m") -> dict:
    ends = {"low": None, "high": None} if value is None else {"low": value - 0.05, "high": value + 0.05}
    counts = {"n": 20 if value is not None else 0, "clusters": 20, "unparsed": 0.0, "refused": 0.0}
    line = {"measure": measure, "candidate": candidate, "slice": json.dumps(slice), "value": value, **ends, **counts}
    return {**line, "method": "made", "version": version}


MEASURES = [
    line("accuracy", {}, 0.5),
    line("accuracy", {"images": "as-is"}, 0.6),
    line("accuracy", {"images": "none"}, 0.4),
    line("accuracy", {"skill": "b"}, 0.7),
    line("accuracy", {"skill": "a"}, 0.2),
    line("accuracy", {"skill": "mean"}, 0.45),
    line("accuracy", {"skill": "c"}, None),
    line("brier", {"skill": "a"}, 0.11),
    line("brier", {"skill": "b"}, 0.12),
    line("ece_stated", {}, 0.09, version="10 bins"),
    line("ece_debiased_stated", {}, 0.03, version="10 bins"),
    line("ece_if_calibrated_stated", {}, 0.05, version="10 bins"),
    line("worst@1", {}, 0.5),
    line("worst@16", {}, 0.1),
    line("worst@2", {}, 0.3),
    line("hit@1", {}, 0.25, version="lexical-1"),
    line("unparsed", {}, 0.0),
    line("unparsed", {"images": "as-is"}, 0.01),
    line("unparsed", {"images": "none"}, 0.02),
]
CHANGE = {"measure": "accuracy", "a": "as-is", "b": "none", "slice": '{"candidate": "m"}', "value": 0.25, "low": 0.1}
CHANGE |= {"high": 0.3, "p": 0.01, "p_adjusted": 0.02, "family": "f", "n": 18, "clusters": 18, "method": "made"}


@pytest.fixture
def made(tmp_path: Path) -> RunFiles:
    (tmp_path / "study.toml").write_text(STUDY)
    manifest = {"status": "complete", "cases": {"cases": 20, "questions": 20}, "candidates": [{"name": "m"}]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for name, columns, rows in (("measures", tables.MEASURES, MEASURES), ("comparisons", tables.COMPARISONS, [CHANGE])):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(columns))
            writer.writeheader()
            writer.writerows(rows)
    pl.DataFrame({"case": ["a"]}).write_parquet(tmp_path / "marks.parquet")
    return read_run(tmp_path)


def values(
    run: RunFiles, *wanted: ColumnSpec, rows: tuple[str, ...] = ("candidate",)
) -> list[list[float | str | None]]:
    table, _ = measured_table(run, "made", rows, list(wanted))
    return [[cell.text if cell.value is None else cell.value for cell in row.cells[:-1]] for row in table.rows]


def headings(run: RunFiles, *wanted: ColumnSpec) -> list[str]:
    table, _ = measured_table(run, "made", ("candidate",), list(wanted))
    return [f"{column.over} {column.heading}".strip() for column in table.columns[:-1]]


def test_a_slice_names_no_axis_with_one_value(made: RunFiles) -> None:
    asked = ColumnSpec("a", "accuracy", slice={"inputs": "history", "images": "none"})
    not_asked = ColumnSpec("b", "accuracy", slice={"inputs": "history+findings"})
    by_default = ColumnSpec("c", "accuracy", slice={"telling": "own"})
    assert values(made, asked, not_asked, by_default) == [[0.4, "not asked", 0.5]]


def test_what_no_line_tells_is_not_measured_and_an_empty_slice_was_not_asked(made: RunFiles) -> None:
    assert values(made, ColumnSpec("a", "swa"), ColumnSpec("b", "accuracy", slice={"skill": "c"})) == [
        ["not measured", "not asked"]
    ]


def test_variants_are_not_mixed(made: RunFiles) -> None:
    wanted = [ColumnSpec("a", "ece_stated"), ColumnSpec("b", "ece_debiased_stated")]
    wanted += [ColumnSpec("c", "ece_if_calibrated_stated"), ColumnSpec("d", "ece_in_the_limit")]
    assert values(made, *wanted) == [[0.09, 0.03, 0.05, "not measured"]]


def test_without_votes_the_same_measure_of_another_source_stands_for_it(made: RunFiles) -> None:
    assert values(made, ColumnSpec("a", "ece"), ColumnSpec("b", "ece_debiased")) == [[0.09, 0.03]]


def test_every_k_in_order(made: RunFiles) -> None:
    wanted = ColumnSpec("k = {}", "worst@k")
    assert headings(made, wanted) == ["k = 1", "k = 2", "k = 16"]
    assert values(made, wanted) == [[0.5, 0.3, 0.1]]
    assert headings(made, ColumnSpec("{}", "recall@k")) == ["k"]
    assert values(made, ColumnSpec("{}", "recall@k")) == [["not measured"]]


def test_neighbours_by_a_key_stay_together_in_the_papers_order(made: RunFiles) -> None:
    names = {"a": "Alpha", "x": "not here"}
    wanted = [ColumnSpec(name, name, over="{}", by="skill", headings=names) for name in ("accuracy", "brier")]
    shown = ["Alpha accuracy", "Alpha brier", "b accuracy", "b brier", "c accuracy", "c brier"]
    assert headings(made, *wanted) == shown
    assert values(made, *wanted) == [[0.2, 0.11, 0.7, 0.12, "not asked", "not asked"]]
    _, asked = measured_table(
        made, "made", ("candidate",), [ColumnSpec("{}", "accuracy", by="skill", published="{}_x")]
    )
    assert [each.published for each in asked] == ["b_x", "a_x", "c_x", None]  # as the run has them


def test_a_change_is_the_paired_comparison_in_either_direction(made: RunFiles) -> None:
    there = ColumnSpec("there", "accuracy", slice={"images": "as-is"}, minus={"images": "none"})
    back = ColumnSpec("back", "accuracy", slice={"images": "none"}, minus={"images": "as-is"})
    table, _ = measured_table(made, "made", ("candidate",), [there, back])
    forth, turned, _ = table.rows[0].cells
    assert (forth.value, forth.low, forth.high, forth.n) == (0.25, 0.1, 0.3, 18)
    assert (turned.value, turned.low, turned.high) == (-0.25, -0.3, -0.1)
    assert not any("difference of two figures" in note for note in table.notes)


def test_a_change_that_is_not_compared_is_a_difference_without_interval(made: RunFiles) -> None:
    wanted = ColumnSpec("change", "accuracy", slice={"skill": "b"}, minus={"skill": "a"})
    table, _ = measured_table(made, "made", ("candidate",), [wanted])
    cell = table.rows[0].cells[0]
    assert (cell.value, cell.low, cell.high) == (pytest.approx(0.5), None, None)
    assert any("difference of two figures" in note for note in table.notes)


def test_rows_by_an_axis(made: RunFiles) -> None:
    table, _ = measured_table(made, "made", ("candidate", "images"), [ColumnSpec("a", "accuracy")])
    assert [row.labels for row in table.rows] == [("m", "as-is"), ("m", "none")]
    assert [[cell.value for cell in row.cells] for row in table.rows] == [[0.6, 0.01], [0.4, 0.02]]


def test_judged_figures_name_their_judge(made: RunFiles) -> None:
    table, _ = measured_table(made, "made", ("candidate",), [ColumnSpec("a", "hit@1")])
    assert "hit@1: marked by lexical-1, not validated against people." in table.notes


def test_four_reasons_for_a_missing_figure_are_four_words(made: RunFiles) -> None:
    """Not asked in a slice without answers; not stated where no confidence was; not measured; no interval."""
    lines = [
        line("accuracy", {"images": "as-is"}, 0.6, candidate="silent"),
        line("confidence_missing_stated", {"images": "as-is"}, 1.0, candidate="silent"),
        line("ece_stated", {"images": "as-is"}, None, candidate="silent"),
        {**line("accuracy", {}, 0.5, candidate="silent"), "low": None, "high": None},
    ]
    frame = pl.DataFrame(lines, schema=made.measures.schema)
    run = replace(made, measures=pl.concat([made.measures, frame]))
    seen = {"images": "as-is"}
    wanted = [ColumnSpec(name, name, slice=seen) for name in ("ece_stated", "brier", "accuracy")]
    wanted += [ColumnSpec("blank", "accuracy", slice={"images": "none"}), ColumnSpec("all", "accuracy")]
    table, _ = measured_table(run, "made", ("candidate",), wanted)
    cells = next(row for row in table.rows if row.labels == ("silent",)).cells
    texts = [cell.value or cell.text for cell in cells]
    assert texts == ["not stated", "not measured", 0.6, "not asked", 0.5, "not measured"]
    for reason, meaning in MEANINGS.items():
        assert f"{reason.capitalize()}: {meaning}" in table.notes


def test_the_rows_of_candidates_that_do_not_see_are_marked_where_images_are_shown(made: RunFiles) -> None:
    def labels(run: RunFiles) -> list[tuple[str, ...]]:
        table, _ = measured_table(run, "made", ("candidate",), [ColumnSpec("a", "accuracy")])
        return [row.printed_labels for row in table.rows]

    study = dict(made.study_settings) | {"candidates": [{"name": "m", "provider": "random"}]}
    blind = {**made.manifest, "candidates": [{"name": "m", "sees": False}]}
    shown = study | {"conditions": {"inputs": ["history+images"]}}
    assert labels(replace(made, study_settings=study, manifest=blind)) == [("m",)], "inputs are the history alone"
    assert labels(replace(made, study_settings=shown, manifest=blind)) == [("m (text only)",)]
    imageless = blind | {"cases": {"cases": 20, "questions": 20, "images": 0}}
    assert labels(replace(made, study_settings=shown, manifest=imageless)) == [("m",)]
    telling = study | {"conditions": {"telling": ["text"]}}
    assert labels(replace(made, study_settings=telling, manifest=blind)) == [("m",)]


def test_a_key_by_which_nothing_was_measured_is_named(made: RunFiles) -> None:
    table, _ = measured_table(made, "made", ("candidate",), [ColumnSpec("{}", "accuracy", by="category")])
    assert "There are no columns by category: the run has no figures by it." in table.notes
