"""Measures by hand: every figure here can be recomputed on paper."""

from math import log

import numpy as np
import polars as pl
import pytest
from made_marks import made_marks, made_study, mark, row, votes
from vote_oracle import certainty_of, majority_right, mean_over_all_votes

from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.marks import MARKS_SCHEMA
from wardround.measuring import measure
from wardround.measuring.engine.tables import MEASURES
from wardround.measuring.measures.votes import gold_votes


def test_outcomes_and_their_denominators():
    outcomes = ["right"] * 3 + ["wrong"] * 4 + ["unparsed"] * 2 + ["unscored"]
    table = measure(made_marks(mark(case, outcome) for case, outcome in enumerate(outcomes)), made_study())
    by_name = {name: row(table, name) for name in ("accuracy", "accuracy_parsed", "unparsed", "unscored")}
    assert [by_name[name]["value"] for name in by_name] == pytest.approx([3 / 9, 3 / 7, 2 / 9, 1 / 10])
    assert [by_name[name]["n"] for name in by_name] == [9, 7, 9, 10]
    assert by_name["accuracy"]["unparsed"] == pytest.approx(2 / 9)
    assert by_name["accuracy"]["version"] == "strict-1"


def test_what_does_not_apply_is_absent():
    table = measure(made_marks(mark(case) for case in range(3)), made_study())
    assert set(table["measure"]) == {
        *("accuracy", "accuracy_if_unparsed_right", "accuracy_parsed", "unparsed", "refused"),
        *("sensitivity", "sensitivity_by_letter", *(f"net_benefit@{k}" for k in (5, 10, 20, 30, 50))),
        *("specificity", "specificity_by_letter", "precision_by_letter"),
    }
    assert dict(table.schema) == MEASURES


def test_no_marks_give_an_empty_table():
    table = measure(made_marks([]), made_study())
    assert table.is_empty()
    assert dict(table.schema) == MEASURES


def test_accuracy_is_the_mean_over_trials_and_the_majority_is_another_measure():
    ballots = ["0001", "0111", "01--", "----", "0123"]
    marks = made_marks(line for case, ballot in enumerate(ballots) for line in votes(case, ballot))
    table = measure(marks, made_study(trials=4))
    assert row(table, "accuracy")["value"] == pytest.approx((3 + 1 + 1 + 0 + 1) / 20)
    chosen = [[None if vote == "-" else int(vote) for vote in ballot] for ballot in ballots]
    expected = sum(majority_right(ballot, 0) for ballot in chosen) / 5
    assert expected == (1 + 0 + 0.5 + 0 + 0.25) / 5
    first_line = row(table, "majority_accuracy")
    assert (first_line["value"], first_line["n"], first_line["version"]) == (pytest.approx(expected), 5, "T=4")


def test_confidence_is_over_valid_votes_and_the_shift_on_the_same_questions():
    ballots = ["0001", "01--", "1---", "----", "222-"]  # two of four are enough: two questions have no C
    marks = made_marks(line for case, ballot in enumerate(ballots) for line in votes(case, ballot))
    table = measure(marks, made_study(trials=4))
    certainties = [certainty_of([0, 0, 0, 1], 4), certainty_of([0, 1], 4), certainty_of([2, 2, 2], 4)]
    assert certainties[1] == pytest.approx(1 - log(2) / log(4))
    first_line = row(table, "confidence")
    assert (first_line["value"], first_line["n"]) == (pytest.approx(sum(certainties) / 3, abs=1e-8), 3)
    assert first_line["unparsed"] == pytest.approx((0 + 2 + 3 + 4 + 1) / 20)
    assert row(table, "confidence_missing")["value"] == pytest.approx(2 / 5)
    shift = sum(certainties) / 3 - (3 / 4 + 1 / 4 + 0) / 3
    assert row(table, "calibration_shift")["value"] == pytest.approx(shift, abs=1e-8)
    share = row(table, "vote_share")
    assert (share["value"], share["n"]) == (pytest.approx((3 / 4 + 1 / 4 + 3 / 4) / 3), 3)


def test_a_candidate_that_always_refuses_has_no_confidence():
    marks = made_marks(line for case in range(10) for line in votes(case, "-----"))
    table = measure(marks, made_study(trials=5))
    assert row(table, "accuracy")["value"] == 0
    assert row(table, "unparsed")["value"] == 1
    assert row(table, "confidence_missing")["value"] == 1
    for name in ("accuracy_parsed", "confidence", "vote_share", "calibration_shift"):
        first_line = row(table, name)
        assert (first_line["value"], first_line["low"], first_line["n"], first_line["clusters"]) == (
            None,
            None,
            0,
            0,
        ), name


def test_one_trial_has_no_votes():
    table = measure(made_marks(mark(case, at_confidence="votes") for case in range(9)), made_study())
    assert not {"confidence", "vote_share", "majority_accuracy"} & set(table["measure"])


def test_option_probabilities_stand_for_the_expected_votes():
    shares = [[0.6, 0.2, 0.1, 0.05], [0.1, 0.7, 0.1, 0.1], [0.2, 0.1, 0.0, 0.0]]
    at = {"at_confidence": "logprobs"}
    marks = made_marks(mark(case, shares=share, **at) for case, share in enumerate(shares))
    table = measure(marks, made_study(trials=4))
    assert row(table, "accuracy")["value"] == pytest.approx((0.6 + 0.1 + 0.2) / 3, abs=1e-8)
    assert row(table, "accuracy")["n"] == 3
    assert row(table, "unparsed")["value"] == pytest.approx((0.05 + 0 + 0.7) / 3, abs=1e-8)
    brute = [mean_over_all_votes(share, 0, 4, 2) for share in shares]
    certain, certainty, right = (sum(part) for part in zip(*brute, strict=True))
    assert row(table, "confidence")["value"] == pytest.approx(certainty / certain, abs=1e-7)
    assert row(table, "confidence_missing")["value"] == pytest.approx(1 - certain / 3, abs=1e-7)
    shift = row(table, "calibration_shift")["value"]
    assert shift == pytest.approx((certainty - right) / certain, abs=1e-7)
    assert row(table, "confidence_missing_in_the_limit")["value"] == pytest.approx(1 / 3)
    assert row(table, "vote_share_in_the_limit")["value"] == pytest.approx((0.6 + 0.7) / 2, abs=1e-8)
    assert row(table, "majority_accuracy_in_the_limit")["value"] == pytest.approx(2 / 3)


def test_probabilities_and_votes_weigh_the_same():
    """An item that falls back to votes has T marks, one by log-probabilities has one: both are one question."""
    at = {"at_confidence": "logprobs"}
    marks = made_marks([mark(0, shares=[1.0, 0.0, 0.0, 0.0], **at), *votes(1, "1111", **at)])
    assert row(measure(marks, made_study(trials=4)), "accuracy")["value"] == 0.5


def test_of_one_trial_only_the_limit_is_known():
    marks = made_marks(mark(case, shares=[0.4, 0.3, 0.2, 0.1], at_confidence="logprobs") for case in range(3))
    table = measure(marks, made_study())
    assert round(row(table, "confidence_in_the_limit")["value"], 3) == 0.077
    assert "confidence" not in set(table["measure"])


def test_stated_numbers_are_a_measure_of_their_own():
    at = {"at_confidence": "verbal"}
    rows = [mark(0, confidence=0.9, **at), mark(1, "wrong", confidence=0.8, **at), mark(2, **at)]
    rows += [mark(3, "unscored", confidence=0.3, **at)]
    study = made_study(trials=2, conditions={"confidence": ["verbal", "votes"]})
    table = measure(made_marks([*rows, *votes(0, "01", at_confidence="votes")]), study)
    line = row(table, "confidence_stated")
    assert (line["value"], line["n"]) == (pytest.approx(0.85, abs=1e-8), 2)
    assert row(table, "confidence_missing_stated")["value"] == pytest.approx(1 / 3)
    assert row(table, "calibration_shift_stated")["value"] == pytest.approx(0.85 - 0.5, abs=1e-8)
    by_votes = row(table, "confidence", '{"confidence":"votes"}')
    assert by_votes["value"] == pytest.approx(1 - log(2) / log(4), abs=1e-8)
    assert row(table, "confidence_stated", '{"confidence":"votes"}')["n"] == 0


def test_a_hit_needs_a_judged_list():
    lists = [
        ([True], "right"),
        ([False, False, True], "wrong"),
        ([False, False, False, True], "wrong"),
        ([False, None, True], "wrong"),
        ([False, None], "wrong"),
        ([None, True], "unscored"),
        ([], "unparsed"),
        (None, "unparsed"),
        (None, "unscored"),
    ]
    fields = {"kind": "open", "gold": None, "k": None, "option": None, "judge": "lexical-1"}
    marks = made_marks(mark(case, outcome, hits=hits, **fields) for case, (hits, outcome) in enumerate(lists))
    table = measure(marks, made_study())
    first, third = row(table, "hit@1"), row(table, "hit@3")
    assert (first["value"], first["n"], first["version"]) == (pytest.approx(1 / 7), 7, "lexical-1")
    # unscored among the first three without a hit: the fifth and the last
    assert (third["value"], third["n"]) == (pytest.approx(4 / 7), 7)
    assert row(table, "unscored")["value"] == pytest.approx(2 / 9)


def test_slices_of_cases_questions_and_conditions():
    rows = [
        mark(0, specialty="neuro", sex="F", tag=["rare", "old"], age_band="under 18"),
        mark(1, "wrong", specialty="chest", sex="F", tag=["rare"], age_band="65 and over"),
        mark(2, specialty=None, sex="F", tag=[], age_band="18 to 39"),
    ]
    rows += [{**line, "candidate": "two"} for line in rows[:1]]
    table = measure(made_marks(rows), made_study("one", "two"))
    assert row(table, "accuracy", '{"tag":"rare"}', candidate="one")["value"] == 0.5
    assert row(table, "accuracy", '{"tag":"old"}', candidate="one")["n"] == 1
    assert row(table, "accuracy", '{"specialty":"chest"}', candidate="one")["value"] == 0
    empty = row(table, "accuracy", '{"specialty":"chest"}', candidate="two")
    assert (empty["value"], empty["n"], empty["clusters"], empty["method"]) == (None, 0, 0, None)
    slices = table.filter(measure="accuracy", candidate="one")["slice"].to_list()
    assert not any("sex" in slice for slice in slices), "one value is no slicing"
    ages = [slice for slice in slices if "age_band" in slice]
    assert ages == ['{"age_band":"under 18"}', '{"age_band":"18 to 39"}', '{"age_band":"65 and over"}']


def test_slices_are_the_varied_axes_and_their_pairs():
    conditions = {"images": ["as-is", "swapped"], "options": ["shuffled", "as-given"], "stem": ["full"]}
    rows = [
        mark(case, "right" if images == "as-is" else "wrong", at_images=images, at_options=options)
        for case in range(4)
        for images, options in (("as-is", "as-given"), ("as-is", "shuffled"), ("swapped", "as-given"))
    ]
    table = measure(made_marks(rows), made_study(conditions=conditions))
    lines = table.filter(measure="accuracy").select("slice", "value", "n").rows()
    assert lines == [
        ("{}", 1.0, 4),  # images as they are, options shuffled
        ('{"images":"as-is"}', 1.0, 4),
        ('{"images":"swapped"}', None, 0),
        ('{"options":"shuffled"}', 1.0, 4),
        ('{"options":"as-given"}', 1.0, 4),
        ('{"images":"as-is","options":"shuffled"}', 1.0, 4),
        ('{"images":"as-is","options":"as-given"}', 1.0, 4),
        ('{"images":"swapped","options":"as-given"}', 0.0, 4),
    ]


def test_a_value_of_an_axis_that_was_never_asked_is_an_empty_slice():
    study = made_study(conditions={"images": ["as-is", "swapped"]})
    table = measure(made_marks(mark(case, at_images="as-is") for case in range(9)), study)
    assert row(table, "accuracy", '{"images":"swapped"}')["n"] == 0


def test_candidates_stand_in_the_order_of_the_study():
    rows = [mark(0, candidate=name) for name in ("alpha", "zeta", "stranger")]
    table = measure(made_marks(rows), made_study("zeta", "alpha"))
    assert table.filter(measure="accuracy")["candidate"].to_list() == ["zeta", "alpha", "stranger"]


def test_accuracy_is_of_choices_and_hits_are_of_open_questions() -> None:
    """One right of two choices, no hit in two lists: neither dilutes the other."""
    candidates = [{"name": "m", "provider": "random"}]
    study = Study.model_validate({"name": "s", "cases": "c", "candidates": candidates})
    place = {"candidate": "m", "condition": Condition().json, "trial": 0, "ask": "00", "parser": "p", "rule": "r"}
    rows = []
    for number in range(2):
        case = {"case": f"c{number}", "cluster": f"c{number}"}
        outcome = "right" if number else "wrong"
        rows.append(
            place | case | {"question": "q", "kind": "choice", "outcome": outcome, "option": 0, "gold": 0, "k": 4}
        )
        rows.append(place | case | {"question": "o", "kind": "open", "outcome": "wrong", "hits": [False], "judge": "j"})
    lines = measure(pl.DataFrame(rows, schema=MARKS_SCHEMA), study).filter(pl.col("slice") == "{}")
    by_name = {row["measure"]: (row["value"], row["n"]) for row in lines.iter_rows(named=True)}
    assert by_name["accuracy"] == (0.5, 2)
    assert by_name["hit@1"] == (0.0, 2)
    assert by_name["unparsed"] == (0.0, 4)


def test_items_without_any_option_have_no_votes_for_the_right_one():
    assert gold_votes(np.zeros((2, 0)), np.array([0.0, np.nan])).tolist() == [-1.0, -1.0]
