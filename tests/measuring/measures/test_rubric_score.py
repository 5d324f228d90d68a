"""Rubric scores agree with HealthBench's formula in exact fractions, and count unparsed and unscored answers."""

from __future__ import annotations

import json

import measure_oracle as oracle
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import made_study, mark, measure_rows, row, rubric_mark

from wardround.measuring.acceptance.endpoint_checks import check_endpoints

CRITERIA = st.lists(st.tuples(st.integers(-10, 10).filter(bool).map(float), st.booleans()), min_size=1, max_size=5)
RUBRICS = st.lists(CRITERIA.map(lambda criteria: [(4.0, True), *criteria]), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(RUBRICS)
def test_scores_agree_with_the_oracle_clipped_and_not(rubrics):
    table = measure_rows([rubric_mark(case, verdicts, "") for case, verdicts in enumerate(rubrics)])
    clipped, unclipped = oracle.rubric_score(rubrics)
    assert row(table, "rubric_score")["value"] == pytest.approx(clipped, abs=1e-8)
    assert row(table, "rubric_score_unclipped")["value"] == pytest.approx(unclipped, abs=1e-8)


def test_an_axis_is_scored_over_its_own_criteria_and_left_out_without_positive_points():
    """Axis a: 5 of 8 and 8 of 8. Axis b has positive points in the second answer alone: 0 of 2."""
    first = rubric_mark(0, [(5.0, True), (3.0, False), (-2.0, True)], "aab")
    second = rubric_mark(1, [(5.0, True), (3.0, True), (2.0, False)], "aab")
    table = measure_rows([first, second])
    assert row(table, "rubric_axis_a")["value"] == pytest.approx((5 / 8 + 1) / 2)
    assert row(table, "rubric_axis_b") == row(table, "rubric_axis_b") | {"value": 0.0, "n": 1}


def test_an_unparsed_answer_scores_0_and_an_unscored_one_is_left_out():
    """1 of 1 and an empty reply: 1/2. The unscored answer is counted, not scored."""
    values = {"kind": "rubric", "question": "rubric", "gold": None, "k": None}
    rows = [rubric_mark(0, [(1.0, True)]), mark(1, "unparsed", **values), mark(2, "unscored", **values)]
    table = measure_rows(rows)
    score = row(table, "rubric_score")
    assert (score["value"], score["n"], score["unparsed"]) == (0.5, 2, 0.5)
    assert row(table, "unscored")["value"] == pytest.approx(1 / 3)


def test_rubric_answers_do_not_enter_accuracy():
    table = measure_rows([mark(0, "right"), rubric_mark(1, [(1.0, False)])])
    accuracy = row(table, "accuracy")
    assert (accuracy["value"], accuracy["n"]) == (1.0, 1)
    assert not table.filter(pl.col("measure").str.starts_with("hit@")).height


def test_a_score_below_0_has_an_interval_below_0_only_unclipped():
    table = measure_rows([rubric_mark(case, [(1.0, False), (-2.0, case % 2 == 0)]) for case in range(60)])
    clipped, unclipped = row(table, "rubric_score"), row(table, "rubric_score_unclipped")
    assert (clipped["value"], clipped["low"], clipped["method"]) == (0.0, None, "no interval")
    assert unclipped["value"] == pytest.approx(-1.0)
    assert -1.5 < unclipped["low"] < -1.0 < unclipped["high"] < -0.5


def test_slices_by_tag_are_healthbenchs_themes():
    rows = [rubric_mark(case, [(1.0, case < 2)], tag=["theme:" + "ab"[case % 2]]) for case in range(4)]
    table = measure_rows(rows)
    by_tag = table.filter(pl.col("measure") == "rubric_score", pl.col("slice").str.contains("tag"))
    assert {json.loads(text)["tag"] for text in by_tag["slice"]} == {"theme:a", "theme:b"}
    assert by_tag["value"].to_list() == [0.5, 0.5]


def test_a_rubric_score_can_be_an_endpoint():
    check_endpoints(made_study(acceptance={"safe": {"measure": "rubric_score", "at_least": 0.5}}))
