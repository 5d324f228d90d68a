"""Intervals against oracles, and the rule that says which one a figure gets."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interval_oracle import (
    effective_answers,
    rate_by_solving,
    scipy_ratio_interval,
    standard_error,
    wilson_by_solving,
)
from made_marks import at, made_marks, made_study, mark, random_marks, row, votes
from scipy.stats import t

from wardround.measuring import measure
from wardround.measuring.engine.resampling.bootstrap import RESAMPLES, SumBlock, resample_weights, resampled_sums
from wardround.measuring.engine.wilson import wilson


def sums_by_cluster(marks: pl.DataFrame, outcome: str) -> tuple[list[int], list[int]]:
    result = marks.group_by("cluster").agg((pl.col("outcome") == outcome).sum().alias("x"), pl.len().alias("m"))
    return result["x"].to_list(), result["m"].to_list()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.floats(0, 1))
def test_wilson_solves_the_score_equation(n, part):
    share = round(part * n) / n
    low, high = (float(end[0]) for end in wilson(np.array([share]), np.array([float(n)])))
    assert (low, high) == pytest.approx(wilson_by_solving(share, n), abs=1e-9)
    assert low <= share <= high


def test_the_bootstrap_agrees_with_scipy():
    marks = random_marks(3, {"one": 0.55}, cases=150, trials=4)
    line = row(measure(marks, made_study(trials=4)), "accuracy")
    low, high = scipy_ratio_interval(*sums_by_cluster(marks, "right"))
    assert line["method"] == "bootstrap"
    assert (line["low"], line["high"]) == pytest.approx((low, high), abs=0.004)


def test_the_bootstrap_of_clusters_of_unequal_size_agrees_with_scipy():
    random = np.random.default_rng(8)
    rows = [
        mark(f"{cluster}-{case}", "right" if random.random() < chance else "wrong", cluster=f"c{cluster}")
        for cluster, chance in enumerate(random.beta(1, 1, 120))
        for case in range(random.integers(1, 12))
    ]
    marks = made_marks(rows)
    line = row(measure(marks, made_study()), "accuracy")
    low, high = scipy_ratio_interval(*sums_by_cluster(marks, "right"))
    assert (line["clusters"], line["n"]) == (120, len(rows))
    assert (line["low"], line["high"]) == pytest.approx((low, high), abs=0.006)
    assert line["high"] - line["low"] > 1.5 * 2 * 1.96 * np.sqrt(line["value"] * (1 - line["value"]) / len(rows))


def test_resampled_sums_are_those_of_the_drawn_clusters():
    """Parts of some and of all clusters add up those that the weights say; equal columns are no trouble."""
    random = np.random.default_rng(1)
    some = np.sort(random.choice(90, 40, replace=False))
    parts = [
        SumBlock(np.arange(90), random.integers(0, 9, (2, 90)).astype(float)),
        SumBlock(some, random.integers(0, 3, (3, 40)).astype(float)),
        SumBlock(some, random.integers(0, 3, (50, 40)).astype(float)),
        SumBlock(some, np.zeros((2, 40))),
    ]
    weights = np.concatenate([block.copy() for block in resample_weights(90, 5)], axis=1)
    assert weights.shape == (90, RESAMPLES)
    assert (weights.sum(axis=0) == 90).all()
    result = dict(resampled_sums(parts, 90, 5))
    assert sorted(result) == [0, 1, 2, 3]
    for number, part in enumerate(parts):
        assert (result[number].all_rows() == part.sums @ weights[part.cluster]).all()


def test_resamples_do_not_depend_on_the_size_of_a_block(monkeypatch):
    whole = np.concatenate([block.copy() for block in resample_weights(70, 0)], axis=1)
    monkeypatch.setattr("wardround.measuring.engine.resampling.bootstrap.MAX_BLOCK_WEIGHTS", 7000)
    monkeypatch.setattr("wardround.measuring.engine.resampling.bootstrap.MAX_CACHED_WEIGHTS", 0)
    pieces = [block.copy() for block in resample_weights(70, 0)]
    assert len(pieces) == 20
    assert (np.concatenate(pieces, axis=1) == whole).all()


@pytest.mark.parametrize("copies", [1, 2])
def test_few_clusters_get_wilson_on_the_effective_n(copies):
    """Twelve clusters have few without an event; twenty-four have enough of both kinds."""
    ballots = ["000", "001", "001", "111", "110", "001", "222", "000", "020", "110", "010", "002"] * copies
    marks = made_marks(line for case, ballot in enumerate(ballots) for line in votes(case, ballot))
    first_line = row(measure(marks, made_study(trials=3)), "accuracy")
    right, n = [ballot.count("0") for ballot in ballots], 3 * len(ballots)
    expected = effective_answers(right, [3] * len(ballots))
    assert expected < n / 1.2
    assert first_line["method"] == "wilson"
    assert (first_line["low"], first_line["high"]) == pytest.approx(
        wilson_by_solving(sum(right) / n, expected), abs=1e-8
    )


def test_wilson_counts_clusters_and_not_answers():
    """40 cases, 3 of them wrong in all of ten trials: 30 wrong answers are three pieces of evidence."""
    marks = made_marks(line for case in range(40) for line in votes(case, "1" * 10 if case < 3 else "0" * 10))
    line = row(measure(marks, made_study(trials=10)), "accuracy")
    assert (line["value"], line["method"]) == (0.925, "wilson")
    assert (line["low"], line["high"]) == pytest.approx(rate_by_solving(0.925, 40), abs=0.002)


def test_a_rate_with_errors_does_not_reach_1():
    """One wrong answer of 400 says little of how alike the answers of a case are: the case counts once."""
    ballots = ["0" * 9 + "1", *["0" * 10] * 39]
    marks = made_marks(line for case, ballot in enumerate(ballots) for line in votes(case, ballot))
    line = row(measure(marks, made_study(trials=10)), "accuracy")
    assert line["high"] < 1
    expected = effective_answers([9, *[10] * 39], [10] * 40)
    assert (line["low"], line["high"]) == pytest.approx(rate_by_solving(399 / 400, expected), abs=1e-8)
    assert expected < 60


def test_a_single_event_does_not_exclude_a_rate_of_one_percent():
    """Twelve answers at 1% have an event in 11%: Wilson's interval would then begin at 1.5%."""
    marks = made_marks(mark(case, "unparsed" if case < 1 else "right") for case in range(12))
    line = row(measure(marks, made_study()), "unparsed")
    assert line["low"] == pytest.approx(-np.log(0.95) / 12, abs=1e-9)
    assert line["high"] == pytest.approx(wilson_by_solving(1 / 12, 12)[1], abs=1e-9)


def test_the_width_of_a_mean_does_not_jump_at_30_clusters():
    """Brier scores of 29 and of 30 cases with the same two values."""
    widths = []
    for cases in (29, 30):
        rows = [
            mark(case, "right" if case % 3 else "wrong", confidence=0.7, condition=at(confidence="verbal"))
            for case in range(cases)
        ]
        line = row(measure(made_marks(rows), made_study()), "brier_stated")
        widths.append(line["high"] - line["low"])
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_a_mean_whose_clusters_are_all_alike_is_not_certain():
    marks = made_marks(line for case in range(60) for line in votes(case, "0" * 5))
    line = row(measure(marks, made_study(trials=5)), "vote_share")
    assert (line["value"], line["high"], line["method"]) == (1.0, 1.0, "wilson")
    assert line["low"] == pytest.approx(wilson_by_solving(1.0, 60)[0], abs=0.01)


@pytest.mark.parametrize(("right", "method"), [(9, "wilson"), (10, "bootstrap"), (190, "bootstrap"), (191, "wilson")])
def test_extreme_counts_get_wilson(right, method):
    marks = made_marks(mark(case, "right" if case < right else "wrong") for case in range(200))
    line = row(measure(marks, made_study()), "accuracy")
    assert line["method"] == method
    if method == "wilson":
        assert (line["low"], line["high"]) == pytest.approx(wilson_by_solving(right / 200, 200), abs=1e-9)


@pytest.mark.parametrize(
    ("clusters", "method"), [(7, "too few cases"), (8, "wilson"), (29, "wilson"), (30, "bootstrap")]
)
def test_the_number_of_clusters_decides(clusters, method):
    marks = made_marks(line for case in range(clusters) for line in votes(case, "001" if case % 2 else "211"))
    first_line = row(measure(marks, made_study(trials=3)), "accuracy")
    assert first_line["method"] == method
    assert (first_line["low"] is None) == (method == "too few cases")
    assert first_line["value"] is not None


def test_where_all_answers_are_alike_a_cluster_counts_once():
    marks = made_marks(line for case in range(12) for line in votes(case, "0" * 10))
    first_line = row(measure(marks, made_study(trials=10)), "accuracy")
    assert (first_line["value"], first_line["n"]) == (1.0, 120)
    assert (first_line["low"], first_line["high"]) == pytest.approx(wilson_by_solving(1.0, 12), abs=1e-9)


def test_a_signed_mean_of_few_clusters_has_a_student_interval():
    ballots = ["0001", "0111", "0120", "3333", "0000", "1200", "2211", "0100", "3300"]
    marks = made_marks(line for case, ballot in enumerate(ballots) for line in votes(case, ballot))
    table = measure(marks, made_study(trials=4))
    shifts = [
        row(measure(made_marks(votes(0, ballot)), made_study(trials=4)), "calibration_shift")["value"]
        for ballot in ballots
    ]
    reach = t.ppf(0.975, 8) * standard_error(shifts, [1] * 9)
    first_line = row(table, "calibration_shift")
    assert first_line["method"] == "student"
    assert (first_line["low"], first_line["high"]) == pytest.approx(
        (sum(shifts) / 9 - reach, sum(shifts) / 9 + reach), abs=1e-7
    )


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """2,000 repeats at 200 clusters: each candidate is one repeat, its cases drawn anew from known chances."""
    random = np.random.default_rng(4)
    repeats, cases, trials = 2000, 200, 3
    chances = random.beta(6, 4, (repeats, cases))  # mean .6
    right = random.random((repeats, cases, trials)) < chances[:, :, None]
    numbers = np.indices(right.shape).reshape(3, -1)
    outcome = np.where(right.ravel(), "right", "wrong")
    one = made_marks([mark(0)]).drop("candidate", "case", "cluster", "trial", "outcome", "option")
    frame = pl.DataFrame(
        {
            "candidate": pl.Series(numbers[0]).cast(pl.String),
            "case": pl.Series(numbers[1]).cast(pl.String),
            "trial": numbers[2].astype(np.int32),
            "outcome": outcome,
            "option": (~right.ravel()).astype(np.int16),
        }
    )
    marks = frame.with_columns(pl.col("case").alias("cluster")).join(one, how="cross")
    table = measure(marks, made_study(trials=trials))
    for name, truth in (("accuracy", 0.6), ("accuracy_parsed", 0.6)):
        lines = table.filter(measure=name)
        covered = ((lines["low"] <= truth) & (lines["high"] >= truth)).mean()
        assert set(lines["method"]) == {"bootstrap"}
        assert 0.93 <= covered <= 0.97, name
