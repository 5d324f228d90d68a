"""Figures that look certain because their clusters are alike, unequal in size, or have no error yet."""

import numpy as np
import polars as pl
import pytest
from made_marks import at, made_marks, made_study, mark, measure_rows, row, votes
from scipy.stats import binomtest, t

from wardround.measuring import measure

VERBAL = at(confidence="verbal")


def claims(confidence, right, **more):
    """Verbal claims, one of each case."""
    return [
        mark(case, "right" if is_right else "wrong", confidence=float(number), condition=VERBAL, gold=case % 4, **more)
        for case, (number, is_right) in enumerate(zip(confidence, right, strict=True))
    ]


@pytest.mark.parametrize("outcome", ["right", "wrong"])
@pytest.mark.parametrize("cases", [12, 60])
def test_no_interval_has_no_width_because_all_cases_are_alike(cases, outcome):
    fields = {"importance": 2.0, "grade": "R", "condition": VERBAL}
    rows = [
        mark(case, outcome, confidence=(0.7, 0.9)[case % 2], gold=case % 4, option=(case + (outcome == "wrong")) % 4)
        | fields
        for case in range(cases)
    ]
    table = measure_rows(rows).filter(slice="{}").drop_nulls("low")
    # a coverage of 1 may be shown: the risk of 60 answers without an error is at most .10
    certain = table.filter((table["high"] - table["low"]) < 1e-6)["measure"].to_list()
    assert set(certain) <= ({"coverage@risk10_stated"} if cases == 60 else set())


@pytest.mark.parametrize("number", [0.5, 0.9])
def test_a_number_that_rounding_alone_tells_apart_is_the_same_in_all_cases(number):
    """.9 is no multiple of 2^-30, so the products of several trials' sums differ in their last bits, and .5 is one."""
    for trials in (1, 2, 5):
        rows = [
            mark(case, "right", trial, confidence=number, condition=VERBAL)
            for case in range(40)
            for trial in range(trials)
        ]
        line = row(measure(made_marks(rows), made_study(trials=trials)), "confidence_stated")
        z = t.ppf(0.975, 39)  # every case counts as one answer
        middle, reach = number + z * z / 80, z * np.sqrt(number * (1 - number) / 40 + z * z / 6400)
        ends = [(middle + sign * reach) / (1 + z * z / 40) for sign in (-1, 1)]
        assert (line["low"], line["high"]) == pytest.approx(tuple(ends), abs=1e-6)


def test_eight_right_claims_do_not_show_underconfidence():
    """Eight of eight right at about .9: the exact interval of the share right begins at .63, so -.1 is no finding."""
    confidence = np.array([0.85, 0.95, 0.9, 0.88, 0.92, 0.9, 0.91, 0.89])
    table = measure_rows(claims(confidence, [True] * 8))
    shift, brier = row(table, "calibration_shift_stated"), row(table, "brier_stated")
    least = binomtest(8, 8).proportion_ci().low
    assert shift["low"] < shift["value"] < 0 < 0.2 < shift["high"] < 0.9 - least + 0.05
    assert brier["low"] <= brier["value"] < 0.02
    assert 0.2 < brier["high"] < 0.9 - least + 0.05


@pytest.mark.parametrize("cases", [20, 60, 200])
def test_a_calibrated_candidate_with_rare_errors_is_seldom_called_miscalibrated(cases):
    """Stated .97 and right in 97%: often there is no error, and the spread of the claims says nothing of it."""
    random, rows = np.random.default_rng(cases), []
    for number in range(60):
        confidence = random.choice([0.95, 0.97, 0.99], cases)
        rows += claims(confidence, random.random(cases) < 0.97, candidate=f"m{number}")
    lines = measure_rows(rows).filter(measure="calibration_shift_stated", slice="{}")
    assert len(lines) == 60
    excluded = lines.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    assert len(excluded) <= 6  # 20 cases: 33 of 60 before


def test_clusters_of_unequal_size_count_as_the_equal_ones_that_they_are_worth():
    """One patient with 40 of 59 answers: 20 clusters are worth 59^2 / (40^2 + 19) = 2.2."""
    rows = [mark("big", "right", question=f"q{number}") for number in range(40)]
    rows += [mark(case, "right" if case % 3 else "wrong") for case in range(19)]
    line = row(measure_rows(rows), "accuracy")
    assert (line["clusters"], line["method"]) == (20, "wilson")
    assert line["high"] - line["low"] > 0.6  # if that patient is left out the share falls from .88 to .63


def test_many_unequal_clusters_do_not_get_the_bootstrap_of_many_equal_ones():
    equal = [mark(case, "right" if case % 2 else "wrong") for case in range(32)]
    more = [mark(case, "right" if case % 2 else "wrong", question=f"q{n}") for case in (0, 1) for n in range(9)]
    assert row(measure_rows(equal), "accuracy")["method"] == "bootstrap"
    assert row(measure_rows(equal + more), "accuracy")["method"] == "wilson"


def test_unparsed_answers_alone_make_no_hit_rate():
    """Without a judge every answer that can be read is unscored; those that cannot be read do not make it 0%."""
    opened = {"kind": "open", "question": "o", "k": None, "gold": None, "option": None}
    rows = [mark(case, "unparsed" if case < 9 else "unscored", **opened) for case in range(20)]
    assert (row(measure_rows(rows), "hit@1")["n"], row(measure_rows(rows), "hit@1")["value"]) == (0, None)
    judged = [mark(case, "wrong", hits=[False], **opened) for case in range(20, 30)]
    assert (row(measure_rows(rows + judged), "hit@1")["n"], row(measure_rows(rows + judged), "hit@1")["value"]) == (
        19,
        0.0,
    )


def test_votes_without_an_error_do_not_show_underconfidence():
    table = measure(made_marks(line for case in range(12) for line in votes(case, "00001")), made_study(trials=5))
    shift = row(table, "calibration_shift_of_vote_share")
    assert shift["value"] == pytest.approx(-0.2)
    assert shift["high"] > 0
