"""Groups of candidates in bench's tables: headings, and means over candidates with intervals over the same cases."""

from __future__ import annotations

import csv
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from medq_deg_cases import medq_deg_cases
from test_medq_deg import OVERCONFIDENT, STEADY, SURE, cell, run
from xpcr_eyes import eyes

from wardround.benchmarks.engine.bench import BenchResult
from wardround.benchmarks.engine.published import load_published
from wardround.benchmarks.engine.report_section import table_of_run
from wardround.core.study import load_study
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.derived import SliceEstimate, mean_estimate
from wardround.measuring.measures.record import MeasureContext
from wardround.reporting.tables.latex import as_latex
from wardround.reporting.tables.table import Table, TableRow
from wardround.reporting.tables.terminal import as_text

BLIND = {"name": "blind", "provider": "random", "sees": False, "group": "open"}
CANDIDATES = [SURE | {"group": "Medical"}, OVERCONFIDENT | {"group": "open"}, STEADY | {"group": "open"}, BLIND]
OPEN, MEDICAL, EVERYONE = "Open-Source General Models", "Medical-Specialized Models", "All candidates"


@pytest.fixture(scope="module")
def table6(tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    folder = tmp_path_factory.mktemp("groups")
    return run("medq-deg/table6", medq_deg_cases(folder / "cases", 36), folder, CANDIDATES)


def average(table: Table, group: str) -> TableRow:
    return next(row for row in table.rows if row.is_average and row.group == group and not row.published)


def test_rows_stand_under_their_groups_and_the_average_of_all_is_last(table6: BenchResult) -> None:
    assert [(row.group, row.labels[0]) for row in table6.tables[0].rows] == [
        (MEDICAL, "sure"),
        (MEDICAL, "Avg."),
        (OPEN, "overconfident"),
        (OPEN, "steady"),
        (OPEN, "blind"),
        (OPEN, "Avg."),
        (EVERYONE, "Avg."),
    ]


def scores(folder: Path) -> dict[str, np.ndarray]:
    """Of each candidate, by case: its mean score at L1, and the mean change of the same records from their own L0."""
    marks = pl.read_parquet(folder / "marks.parquet").with_columns(right=(pl.col("outcome") == "right").cast(float))
    clean = marks.filter(severity="L0").select("candidate", "case", "trial", clean="right")
    degraded = marks.filter(severity="L1").join(clean, on=("candidate", "case", "trial"))
    by_case = degraded.group_by("candidate", "case").agg(
        pl.col("right").mean(), change=(pl.col("right") - pl.col("clean")).mean()
    )
    return {
        name: by_case.filter(candidate=name).sort("case").select("right", "change").to_numpy()
        for name in ("overconfident", "steady", "sure")
    }


def test_an_average_is_the_mean_over_candidates_resampled_by_case(table6: BenchResult) -> None:
    """An independent bootstrap: cases are drawn, and every candidate keeps its scores on them."""
    assert table6.folder is not None
    by_candidate = scores(table6.folder)
    draws = np.random.default_rng(0).integers(0, 36, (4000, 36))
    for group, names in ((OPEN, ("overconfident", "steady")), (EVERYONE, tuple(by_candidate))):
        joint = np.mean([by_candidate[name] for name in names], axis=0)  # cases have the same number of records
        for column, heading, over in ((0, "L1", ""), (1, "L1", "Matched change")):
            place = next(n for n, c in enumerate(table6.tables[0].columns) if (c.heading, c.over) == (heading, over))
            mean = average(table6.tables[0], group).cells[place]
            low, high = np.percentile(joint[draws, column].mean(axis=1), [2.5, 97.5])
            assert mean.value == pytest.approx(joint[:, column].mean())
            assert (mean.low, mean.high) == (pytest.approx(low, abs=0.012), pytest.approx(high, abs=0.012))


def test_the_average_of_one_candidate_is_its_own_figure(table6: BenchResult) -> None:
    own = next(row for row in table6.tables[0].rows if row.labels == ("sure",))
    averages = average(table6.tables[0], MEDICAL).cells
    for column, mean, figure in zip(table6.tables[0].columns, averages, own.cells, strict=True):
        if column.unit == "percent":
            assert (mean.value, mean.low, mean.high) == (figure.value, figure.low, figure.high)


def test_candidates_that_do_not_see_are_in_no_average(table6: BenchResult) -> None:
    assert any("Left out: blind." in note for note in table6.tables[0].notes)


def test_groups_are_in_every_format(table6: BenchResult) -> None:
    table, folder = table6.tables[0], table6.folder
    assert folder is not None
    lines = list(csv.DictReader((folder / "table.csv").open(encoding="utf-8")))
    assert [line["group"] for line in lines][:3] == [MEDICAL, MEDICAL, OPEN]
    assert f"| **{OPEN}** |" in (folder / "table.md").read_text(encoding="utf-8")
    assert rf"\textbf{{{OPEN}}}}}" in as_latex(table)
    assert f"\n{OPEN}\n" in as_text(table)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f'<th scope="rowgroup" colspan="{1 + len(table.columns)}">{OPEN}</th>' in page


def test_published_rows_stand_under_the_same_headings(table6: BenchResult) -> None:
    assert table6.folder is not None
    table = table_of_run("medq-deg/table6", table6.folder)
    published = [row for row in table.rows if row.published]
    if not published:
        pytest.skip("the published rows are withheld: the protocol of this run is not the paper's")
    by_group = {row.group: [r.labels[0] for r in table.rows if r.group == row.group] for row in published}
    assert by_group[MEDICAL][:3] == ["sure", "Avg.", "UniMedVL"]
    assert by_group[OPEN][-1] == "ShowO2(1.5B)"


def test_a_group_is_in_no_key_and_in_no_hash(table6: BenchResult) -> None:
    assert table6.folder is not None
    study = load_study(table6.folder / "study.toml")
    without = study.model_copy(update={"candidates": [c.model_copy(update={"group": None}) for c in study.candidates]})
    assert study.candidates[0].group == "Medical"
    assert study.hash == without.hash
    assert [c.identity for c in study.candidates] == [c.identity for c in without.candidates]


def test_the_papers_averages_are_those_of_its_groups() -> None:
    """Of the 44 rows of Table 2 four are averages: each the mean of its group, within rounding."""
    table = load_published("medq-deg/table2")
    for group in dict.fromkeys(table.groups.values()):
        members = [
            name for name, own in table.groups.items() if not name.startswith("Avg.") and group in (own, "All models")
        ]
        members = members or [name for name in table.groups if not name.startswith("Avg.")]
        (mean,) = (name for name, own in table.groups.items() if own == group and name.startswith("Avg."))
        values = [table.value(name, "CU") for name in members]
        assert table.value(mean, "CU") == pytest.approx(sum(v for v in values if v is not None) / len(values), abs=0.06)


def test_without_groups_a_table_is_as_before(tmp_path: Path) -> None:
    table = run("medq-deg/table6", medq_deg_cases(tmp_path / "cases", 9), tmp_path, [SURE, STEADY], trials=1).tables[0]
    assert [row.labels[0] for row in table.rows] == ["sure", "steady"]
    assert table == replace(table, rows=[replace(row, group="", is_average=False) for row in table.rows])
    assert cell(table, "sure", "L0").value == 1.0


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    """X-PCR's table of two candidates and 36 eyes, without a warning of numpy."""
    folder = tmp_path_factory.mktemp("averages")
    truths = {"leaning": {"accuracy": 0.85, "after_wrong": 0.2}, "even": {"accuracy": 0.75}}
    candidates = [
        {"name": name, "provider": "simulated", "group": "open", "extra_body": {"seed": 7, **truth, "by": []}}
        for name, truth in truths.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return run("xpcr/table2", eyes(folder / "eyes", 36), folder, candidates)


def test_an_average_has_an_interval_only_if_its_mean_can_be_resampled(chains: BenchResult) -> None:
    """Not of ECE, whose bootstrap is biased, nor of what no candidate has one of; the note names them."""
    table = chains.tables[0]
    mean = average(table, EVERYONE)
    members = [row for row in table.rows if not row.published and not row.is_average]
    for place, column in enumerate(table.columns):
        cell, own = mean.cells[place], [row.cells[place] for row in members]
        assert cell.value == pytest.approx(np.mean([part.value for part in own]))
        assert cell.n == sum(part.n or 0 for part in own)
        if column.over == "ECE":
            assert (cell.low, cell.high) == (None, None)
        else:
            assert cell.low is not None, column
            assert cell.high is not None
            assert cell.low <= cell.value <= cell.high
    (note,) = (note for note in table.notes if note.startswith("Avg."))
    assert note.endswith("It has none in: ECE plug-in, ECE debiased, ECE if calibrated.")


def test_the_average_of_means_over_stages_is_resampled_by_eye(chains: BenchResult) -> None:
    """An independent bootstrap: every stage has one question of each eye, so SWA is the mean over all of them."""
    assert chains.folder is not None
    marks = pl.read_parquet(chains.folder / "marks.parquet").with_columns(right=pl.col("outcome") == "right")
    by_eye = marks.group_by("case").agg(pl.col("right").mean()).sort("case")["right"].to_numpy()
    draws = np.random.default_rng(0).integers(0, len(by_eye), (4000, len(by_eye)))
    low, high = np.percentile(by_eye[draws].mean(axis=1), [2.5, 97.5])
    table = chains.tables[0]
    for heading in ("SWA", "ESA"):
        mean = average(table, EVERYONE).cells[next(n for n, c in enumerate(table.columns) if c.heading == heading)]
        assert (mean.low, mean.high) == (pytest.approx(low, abs=0.012), pytest.approx(high, abs=0.012))


def test_an_average_of_rare_events_is_not_resampled() -> None:
    """Two candidates with one error in 36 cases each: the upper end of a percentile bootstrap is too low."""
    errors = np.zeros((2, 36))
    errors[0, 3] = errors[1, 20] = 1
    draws = np.random.default_rng(0).integers(0, 36, (2000, 36))
    parts = [SliceEstimate(1 / 36, 36, 0, 0, np.arange(36), own[draws].mean(axis=1), method="wilson") for own in errors]
    accuracy = next(measure for measure in define_measures(MeasureContext()) if measure.name == "accuracy")
    mean = mean_estimate(accuracy, parts)
    assert mean.method == "wilson"
    assert mean.low is not None
    assert mean.high is not None
    assert 0 < mean.low < 1 / 36
    assert mean.high > 0.08, "the resamples end near .07"


def test_averages_of_rare_events_hold_the_truth_where_percentiles_do_not() -> None:
    """Two independent candidates with rates of .02 and 36 clusters: 95% and 76% in docs/statistics.md."""
    generator, repeats = np.random.default_rng(1), 500
    accuracy = next(measure for measure in define_measures(MeasureContext()) if measure.name == "accuracy")
    shares = generator.multinomial(36, [1 / 36] * 36, 2000) / 36
    hits = {"average": 0, "percentiles": 0}
    for errors in (generator.random((repeats, 2, 36)) < 0.02).astype(float):
        drawn = [shares @ own for own in errors]
        low, high = np.percentile(np.mean(drawn, axis=0), [2.5, 97.5])
        hits["percentiles"] += int(low <= 0.02 <= high)
        parts = [
            SliceEstimate(float(own.mean()), 36, 0, 0, np.arange(36), resampled, method="wilson")
            for own, resampled in zip(errors, drawn, strict=True)
        ]
        mean = mean_estimate(accuracy, parts)
        assert mean.low is not None
        assert mean.high is not None
        hits["average"] += mean.low <= 0.02 <= mean.high
    assert hits["average"] / repeats == pytest.approx(0.95, abs=0.03)
    assert hits["percentiles"] / repeats == pytest.approx(0.76, abs=0.06)
