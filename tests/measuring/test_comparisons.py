"""Comparisons: who is paired with whom, on what, and what a family adjusts for."""

import re

import numpy as np
import polars as pl
import pytest
from flip_oracle import exact_p
from interval_oracle import effective_answers, scipy_ratio_interval, wilson_by_solving
from made_marks import made_marks, made_study, mark, random_marks, votes
from scipy.stats import norm

from wardround.core.errors import WardroundError
from wardround.measuring import compare, rank_intervals
from wardround.measuring.engine.tables import COMPARISONS

SHARES = (("a", 0.7), ("b", 0.5))


def two(ballots: dict[str, list[str]], **fields: object) -> pl.DataFrame:
    return made_marks(
        line
        for name, cases in ballots.items()
        for case, ballot in enumerate(cases)
        for line in votes(case, ballot, candidate=name, **fields)
    )


def test_a_paired_difference_is_that_computed_by_hand():
    marks = two({"a": ["00", "00", "01", "11", "00", "00"], "b": ["00", "01", "01", "11", "11", "--"]})
    lines = compare(marks, made_study("a", "b", trials=2)).to_dicts()
    assert len(lines) == 1
    assert (lines[0]["a"], lines[0]["b"], lines[0]["slice"], lines[0]["measure"]) == ("a", "b", "{}", "accuracy")
    assert lines[0]["value"] == pytest.approx(9 / 12 - 4 / 12)
    assert lines[0]["p"] == lines[0]["p_adjusted"] == float(exact_p([0, 1, 0, 0, 2, 2]))
    assert (lines[0]["n"], lines[0]["clusters"], lines[0]["low"]) == (12, 6, None)
    assert lines[0]["method"] == "sign-flip (all flips), too few cases"
    assert lines[0]["family"] == "default (not declared)"


def test_a_few_gains_in_many_cases_are_not_certain():
    """Of 100 cases a is right in 4 that b is not: p is 2 / 16, and resamples without any of them are rare.

    Newcombe's interval of the two rates: gains 4 of 100 by Wilson, losses 0 to z^2 / (100 + z^2).
    """
    ballots = {"a": ["0"] * 60 + ["1"] * 40, "b": ["0"] * 56 + ["1"] * 44}
    (line,) = compare(two(ballots), made_study("a", "b")).to_dicts()
    z = norm.ppf(0.975)
    _, high = wilson_by_solving(0.04, effective_answers([1.0] * 4 + [0.0] * 96, [1.0] * 100))
    assert (line["value"], line["p"]) == (pytest.approx(0.04), 2 / 16)
    assert line["method"] == "sign-flip (all flips), wilson"
    assert line["low"] <= 0
    assert line["high"] == pytest.approx(high, abs=1e-6)
    (turned,) = compare(two({"a": ballots["b"], "b": ballots["a"]}), made_study("a", "b")).to_dicts()
    assert (turned["low"], turned["high"]) == pytest.approx((-line["high"], -line["low"]))
    more = {"a": ["0"] * 60 + ["1"] * 40, "b": ["0"] * 52 + ["1"] * 48}
    (line,) = compare(two(more), made_study("a", "b")).to_dicts()
    assert line["p"] == 2 / 2**8
    assert 0 < line["low"] < 0.08 < line["high"] < 0.08 + z * 0.04


def test_an_interval_of_many_cases_holds_0_if_p_is_above_5_percent():
    random = np.random.default_rng(6)
    for _ in range(60):
        ballots = {name: random.choice(["0", "1"], 45, p=(share, 1 - share)).tolist() for name, share in SHARES}
        (line,) = compare(two(ballots), made_study("a", "b")).to_dicts()
        assert line["p"] <= 0.05 or line["low"] <= 0 <= line["high"], line


def test_only_what_both_were_asked_is_compared():
    """b was never asked case 9, and not under swapped images: neither may count for a."""
    rows = [mark(case, "right", candidate="a", at_images=at) for case in range(10) for at in ("as-is", "swapped")]
    rows += [mark(case, "right" if case else "wrong", candidate="b", at_images="as-is") for case in range(9)]
    line = compare(made_marks(rows), made_study("a", "b", conditions={"images": ["as-is", "swapped"]})).to_dicts()[0]
    assert (line["value"], line["n"], line["clusters"]) == (pytest.approx(1 / 9), 9, 9)


def test_a_trial_that_one_side_lacks_is_left_out_on_the_other():
    marks = two({"a": ["0011", "0000"], "b": ["00", "1111"]})
    line = compare(marks, made_study("a", "b", trials=4)).to_dicts()[0]
    assert line["n"] == 6
    assert line["value"] == pytest.approx(6 / 6 - 2 / 6)


def test_probabilities_stand_for_all_trials():
    at = {"at_confidence": "logprobs"}
    rows = [mark(case, candidate="a", shares=[0.75, 0.25, 0.0, 0.0], **at) for case in range(3)]
    rows += [line for case in range(3) for line in votes(case, "0111", candidate="b", **at)]
    first_line = compare(made_marks(rows), made_study("a", "b", trials=4)).to_dicts()[0]
    assert first_line["value"] == pytest.approx(0.5)
    assert first_line["clusters"] == 3


def test_an_axis_is_compared_within_each_candidate():
    family = {"looking": {"measure": "accuracy", "between": "images", "reference": "swapped"}}
    conditions = {"images": ["as-is", "swapped", "blank"], "options": ["as-given", "shuffled"]}
    rows = []
    for case in range(9):
        for options in conditions["options"]:
            rows.append(mark(case, "right", candidate="a", at_images="as-is", at_options=options))
            rows.append(mark(case, "wrong", candidate="a", at_images="swapped", at_options=options))
            rows.append(mark(case, "right", candidate="b", at_images="as-is", at_options=options))
        rows.append(mark(case, "right", candidate="a", at_images="blank", at_options="shuffled"))
    table = compare(made_marks(rows), made_study("a", "b", conditions=conditions, comparisons=family))
    lines = table.select("a", "b", "slice", "value", "n", "p").rows()
    flips = float(exact_p([1] * 9))
    assert lines == [
        ("as-is", "swapped", '{"candidate":"a"}', 1.0, 9, flips),
        ("blank", "swapped", '{"candidate":"a"}', None, 0, None),  # it was asked with shuffled options only
        ("as-is", "swapped", '{"candidate":"b"}', None, 0, None),
        ("blank", "swapped", '{"candidate":"b"}', None, 0, None),
    ]
    assert set(table["family"]) == {"looking"}


def test_a_family_may_compare_at_another_condition():
    conditions = {"images": ["as-is", "swapped", "blank"], "options": ["as-given", "shuffled"]}
    at_shuffled = {"measure": "accuracy", "between": "images", "where": {"options": "shuffled"}}
    rows = [mark(case, "right", at_images="as-is", at_options="shuffled") for case in range(9)]
    rows += [mark(case, "wrong", at_images="blank", at_options="shuffled") for case in range(9)]
    rows += [mark(case, "right", at_images="blank", at_options="as-given") for case in range(9)]
    study = made_study(conditions=conditions, comparisons={"looking": at_shuffled})
    line = compare(made_marks(rows), study).filter(a="as-is", b="blank").row(0, named=True)
    assert (line["slice"], line["value"], line["n"]) == ('{"candidate":"one","options":"shuffled"}', 1.0, 9)


def test_controls_do_not_turn_the_winner_into_the_loser():
    """One looks (80% and, shown another case's images, 10%), the other does not (60% and 60%)."""
    conditions = {"images": ["as-is", "swapped"]}
    rows = [
        mark(case, "right" if case % 10 < tenths else "wrong", candidate=name, at_images=images)
        for name, by_images in {"looks": (8, 1), "guesses": (6, 6)}.items()
        for images, tenths in zip(conditions["images"], by_images, strict=True)
        for case in range(120)
    ]
    study = made_study("looks", "guesses", conditions=conditions)
    table = compare(made_marks(rows), study)
    (line,) = table.to_dicts()
    assert line["slice"] == "{}"
    assert line["value"] == pytest.approx(0.2)
    assert line["p"] < 0.05
    ranks = rank_intervals(table).select("candidate", "first", "last").rows()
    assert ranks == [("looks", 1, 1), ("guesses", 2, 2)]
    swapped = study.model_copy(update={"reference": {"images": "swapped"}})
    assert compare(made_marks(rows), swapped)["value"].to_list() == [pytest.approx(-0.5)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reference": {"images": "blank"}}, "reference.images = 'blank': expected one of as-is, swapped"),
        ({"reference": {"stem": "full"}}, "reference.stem = 'full': the study has no axis 'stem'"),
        (
            {"comparisons": {"a": {"measure": "accuracy", "between": "candidate", "where": {"images": "none"}}}},
            "comparisons.a.where.images = 'none': expected one of as-is, swapped",
        ),
    ],
)
def test_a_condition_that_the_study_does_not_have_is_refused(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made_study(conditions={"images": ["as-is", "swapped"]}, **settings)


def test_the_interval_is_that_of_the_paired_difference():
    marks = random_marks(5, {"a": 0.6, "b": 0.5}, cases=150, trials=2)
    line = compare(marks, made_study("a", "b", trials=2)).to_dicts()[0]
    right = (pl.col("outcome") == "right").cast(pl.Int64)
    sums = marks.group_by("cluster", "candidate").agg(right.sum()).pivot("candidate", index="cluster")
    difference = (sums["a"] - sums["b"]).to_list()
    assert line["value"] == pytest.approx(sum(difference) / 300)
    low, high = scipy_ratio_interval(difference, [2] * 150)
    assert (line["low"], line["high"]) == pytest.approx((low, high), abs=0.006)
    assert line["method"] == "sign-flip (10000 flips), bootstrap"


def test_all_pairs_of_candidates_are_one_family():
    marks = random_marks(6, dict.fromkeys("abcd", 0.5), cases=60)
    table = compare(marks, made_study(*"abcd"))
    pairs = [a + b for a, b in table.select("a", "b").rows()]
    assert pairs == ["ab", "ac", "ad", "bc", "bd", "cd"]
    assert (table["p_adjusted"] >= table["p"]).all()
    assert (table["p_adjusted"] > table["p"]).any()


def test_all_pairs_of_many_candidates_are_compared_and_adjusted_together():
    names = [f"m{number:02}" for number in range(12)]
    marks = random_marks(7, {name: 0.3 + 0.04 * place for place, name in enumerate(names)}, cases=40)
    table = compare(marks, made_study(*names))
    everything = {"all": {"measure": "accuracy", "between": "candidate"}}
    declared = compare(marks, made_study(*names, comparisons=everything))
    assert len(table) == 66
    assert table.drop("family").equals(declared.drop("family"))


def test_variants_of_a_measure_are_families_of_their_own():
    at = {"at_confidence": "logprobs"}
    rows = [
        mark(case, candidate=name, shares=[share, 1 - share, 0.0, 0.0], **at)
        for name, share in (("a", 0.9), ("b", 0.6))
        for case in range(9)
    ]
    family = {"sure": {"measure": "confidence", "between": "candidate"}}
    table = compare(made_marks(rows), made_study("a", "b", trials=3, comparisons=family))
    assert table["family"].to_list() == ["sure", "sure (confidence_in_the_limit)"]
    assert table["measure"].to_list() == ["confidence", "confidence_in_the_limit"]
    assert (table["value"] > 0).all()
    one = {"sure": {"measure": "confidence_in_the_limit", "between": "candidate"}}
    table = compare(made_marks(rows), made_study("a", "b", trials=3, comparisons=one))
    assert table.select("family", "measure").rows() == [("sure", "confidence_in_the_limit")]


def test_one_candidate_or_none_has_nothing_to_compare():
    assert compare(made_marks([mark(0)]), made_study()).is_empty()
    nothing = compare(made_marks([]), made_study("a", "b"))
    assert nothing.is_empty()
    assert dict(nothing.schema) == COMPARISONS


def test_a_candidate_without_marks_has_a_line_without_a_value():
    family = {"all": {"measure": "accuracy", "between": "candidate", "reference": "b"}}
    lines = compare(made_marks([mark(0, candidate="a")]), made_study("a", "b", comparisons=family)).to_dicts()
    assert [(line["a"], line["b"], line["n"], line["value"]) for line in lines] == [("a", "b", 0, None)]


@pytest.mark.parametrize(
    ("family", "said"),
    [
        ({"measure": "acuracy", "between": "candidate"}, "unknown measure 'acuracy'"),
        ({"measure": "accuracy", "between": "colour"}, "between = 'colour'"),
        ({"measure": "accuracy", "between": "candidate", "reference": "c"}, "expected one of a, b"),
    ],
)
def test_an_impossible_family_is_refused_in_one_line(family, said):
    with pytest.raises(WardroundError, match=said) as error:
        compare(made_marks([mark(0)]), made_study("a", "b", comparisons={"f": family}))
    assert "\n" not in str(error.value)
