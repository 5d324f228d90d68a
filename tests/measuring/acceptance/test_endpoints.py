"""Endpoints: limits, verdicts, adjustment, groups and the cases that would decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from made_marks import made_marks, made_study, mark, random_marks, row
from pydantic import ValidationError
from scipy import stats
from tango_oracle import tango_p_above

from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.core.study_tables.endpoint import Endpoint
from wardround.measuring import compare, measure
from wardround.measuring.acceptance.against_number import ImpliedTests
from wardround.measuring.acceptance.endpoint_checks import check_endpoints
from wardround.measuring.acceptance.endpoints import decide
from wardround.measuring.acceptance.figure import EndpointFigure
from wardround.measuring.acceptance.verdicts import Limits, PartVerdict, clusters_needed
from wardround.measuring.people.against_models import compare_people

RATES = {"a": 0.8, "b": 0.7, "c": 0.45}


def study_with(endpoints: dict[str, dict[str, Any]], *names: str, **keys: Any) -> Study:
    study = made_study(*(names or tuple(RATES)), **keys)
    return Study.model_validate(study.model_dump() | {"acceptance": endpoints})


def decided(marks: pl.DataFrame, study: Study, **filters: str) -> list[dict[str, Any]]:
    table = decide(marks, study)
    return table.filter(*(pl.col(name) == value for name, value in filters.items())).to_dicts()


def line(marks: pl.DataFrame, study: Study, **filters: str) -> dict[str, Any]:
    (only,) = decided(marks, study, **{"slice": "{}", **filters})
    return only


def against(ours: str, theirs: str, **fields: Any) -> pl.DataFrame:
    """Two candidates on the same cases: 1 is right, 0 wrong."""
    rows = [
        mark(case, "right" if letter == "1" else "wrong", candidate=name, **fields)
        for name, letters in (("a", ours), ("b", theirs))
        for case, letter in enumerate(letters)
    ]
    return made_marks(rows)


def test_a_number_is_decided_by_the_interval_of_measures_csv() -> None:
    marks = random_marks(4, RATES, 120)
    study = study_with({"enough": {"measure": "accuracy", "threshold": 0.6}})
    measures = measure(marks, study)
    for name, verdict in (("a", "pass"), ("c", "fail")):
        figure, result = row(measures, "accuracy", candidate=name), line(marks, study, candidate=name)

        assert [result[key] for key in ("value", "low", "high", "n")] == [
            figure[key] for key in ("value", "low", "high", "n")
        ]
        assert (result["verdict"], result["part_verdict"]) == (verdict, verdict)
        assert (result["above"], result["below"]) == (0.6, None)
        assert (figure["low"] > 0.6, figure["high"] < 0.6) == (verdict == "pass", verdict == "fail")


def test_a_resampled_score_near_1_passes_by_the_score_test_only() -> None:
    """12 wrong of 400 at a limit of .95: a candidate that is right in 95% has so few in 3.8% (binomial)."""
    marks = made_marks([mark(case, "wrong" if case < 12 else "right") for case in range(400)])
    result = line(marks, study_with({"e": {"measure": "accuracy", "at_least": 0.95}}, "one"))
    assert result["method"] == "bootstrap"
    assert result["low"] > 0.95
    assert result["p"] == pytest.approx(stats.norm.sf(0.02 / np.sqrt(0.95 * 0.05 / 400)), abs=0.004)
    assert result["verdict"] == "undecided"
    eight = made_marks([mark(case, "wrong" if case < 8 else "right") for case in range(400)])
    assert line(eight, study_with({"e": {"measure": "accuracy", "at_least": 0.95}}, "one"))["verdict"] == "pass"


def test_implied_p_values_agree_with_the_interval_they_come_from() -> None:
    """Wilson's interval of 45 of 60 by hand; then its score test at any boundary."""
    z, n, share = stats.norm.ppf(0.975), 60, 0.75
    middle, reach = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)
    tests = ImpliedTests(share, low, high, np.inf, True)

    assert tests.p_above(low) == pytest.approx(0.025)
    assert tests.p_below(high) == pytest.approx(0.025)
    for boundary in (0.5, 0.6, 0.8):
        z_score = (share - boundary) / np.sqrt(boundary * (1 - boundary) / n)
        assert tests.p_above(boundary) == pytest.approx(stats.norm.sf(z_score))
    student = ImpliedTests(0.1, 0.1 - stats.t.ppf(0.975, 9) * 0.04, 0.1 + stats.t.ppf(0.975, 9) * 0.04, 9, False)
    assert student.p_above(0.0) == pytest.approx(stats.t.sf(2.5, 9))


def test_against_a_candidate_the_pairs_are_tested_by_tango_and_sign_flips() -> None:
    """60 cases: 8 only a, 5 only b. Non-inferiority with a margin of 10 points."""
    ours, theirs = "1" * 8 + "0" * 5 + "1" * 30 + "0" * 17, "0" * 8 + "1" * 5 + "1" * 30 + "0" * 17
    study = study_with(
        {"ni": {"measure": "accuracy", "test": "non-inferiority", "against": "b", "margin": 0.1}}, "a", "b"
    )
    result = line(against(ours, theirs), study)

    assert result["value"] == pytest.approx(3 / 60)
    assert result["p"] == pytest.approx(tango_p_above(8, 5, 60, -0.1))  # larger than that of the flips
    assert (result["verdict"], result["candidate"], result["above"]) == ("pass", "a", -0.1)


def test_superiority_without_a_margin_agrees_with_the_differences() -> None:
    """Its one-sided p is never below half of the two-sided p of comparisons.csv, up to the drawn flips."""
    marks = random_marks(9, {"a": 0.75, "b": 0.6}, 90)
    study = study_with({"better": {"measure": "accuracy", "against": "b"}}, "a", "b")
    (difference,) = compare(marks, study).to_dicts()
    result = line(marks, study)

    assert result["value"] == pytest.approx(difference["value"])
    assert result["p"] == pytest.approx(difference["p"] / 2, abs=0.006)


def test_equivalence_needs_both_sides() -> None:
    endpoints = {"same": {"measure": "accuracy", "test": "equivalence", "against": "b", "margin": 0.15}}
    study = study_with(endpoints, "a", "b")
    alike = line(against("10" * 60 + "1100", "10" * 60 + "1010"), study)
    other = line(against("1" * 100 + "0" * 24, "1" * 70 + "0" * 54), study)

    assert (alike["verdict"], alike["above"], alike["below"]) == ("pass", -0.15, 0.15)
    assert -0.15 < alike["low"] < alike["high"] < 0.15
    assert other["verdict"] == "fail"
    assert other["low"] > 0.15


def test_lower_is_better_for_errors() -> None:
    marks = random_marks(2, {"a": 0.7}, 200)  # 5% unparsed
    study = study_with({"read": {"measure": "unparsed", "threshold": 0.15}}, "a")
    higher = study_with({"read": {"measure": "unparsed", "threshold": 0.15, "better": "higher"}}, "a")

    assert (line(marks, study)["verdict"], line(marks, study)["below"]) == ("pass", 0.15)
    assert line(marks, higher)["verdict"] == "fail"


def test_every_group_must_pass() -> None:
    """Right in 90% of women and in 30% of men."""
    random = np.random.default_rng(0)
    rows = [
        mark(case, "right" if random.random() < (0.9 if sex == "F" else 0.3) else "wrong", candidate="a", sex=sex)
        for case in range(300)
        for sex in ["F" if case % 5 else "M"]
    ]
    marks, endpoint = made_marks(rows), {"measure": "accuracy", "threshold": 0.6}
    whole = line(marks, study_with({"e": endpoint}, "a"))
    by_sex = decided(marks, study_with({"e": endpoint | {"groups": ["sex"]}}, "a"))

    assert whole["verdict"] == "pass"
    assert [(part["slice"], part["part_verdict"]) for part in by_sex] == [
        ("{}", "pass"),
        ('{"sex":"F"}', "pass"),
        ('{"sex":"M"}', "fail"),
    ]
    assert {part["verdict"] for part in by_sex} == {"fail"}


def test_a_group_that_no_case_states_cannot_pass() -> None:
    marks = made_marks([mark(case, "right", candidate="a") for case in range(60)])
    parts = decided(marks, study_with({"e": {"measure": "accuracy", "threshold": 0.6, "groups": ["sex"]}}, "a"))

    assert [(part["part_verdict"], part["verdict"]) for part in parts] == [
        ("pass", "undecided"),
        ("undecided", "undecided"),
    ]


def test_one_group_that_all_cases_share_is_the_whole() -> None:
    marks = made_marks([mark(case, "right", candidate="a", sex="F") for case in range(60)])
    parts = decided(marks, study_with({"e": {"measure": "accuracy", "threshold": 0.6, "groups": ["sex"]}}, "a"))

    assert [(part["slice"], part["verdict"]) for part in parts] == [("{}", "pass"), ('{"sex":"F"}', "pass")]


def test_the_primary_endpoint_is_tested_alone_and_the_others_by_holm() -> None:
    marks = random_marks(4, RATES, 150)
    endpoints = {
        "main": {"measure": "accuracy", "threshold": 0.7, "primary": True},
        "low": {"measure": "accuracy", "threshold": 0.5},
        "lower": {"measure": "accuracy", "threshold": 0.45},
    }
    results = {r["endpoint"]: r for r in decided(marks, study_with(endpoints), candidate="b")}

    assert results["main"]["p_adjusted"] == results["main"]["p"]
    smaller, larger = sorted((results["low"], results["lower"]), key=lambda r: r["p"])
    assert smaller["p_adjusted"] == pytest.approx(2 * smaller["p"])
    assert larger["p_adjusted"] == pytest.approx(max(larger["p"], 2 * smaller["p"]))
    assert results["main"]["verdict"] != "pass"
    assert results["low"]["note"] == "exploratory: the primary endpoint main is not passed"
    assert results["main"]["note"] is None


def test_where_names_the_condition() -> None:
    rows = [
        mark(case, "right" if images == "as-is" or case % 3 else "wrong", candidate="a", at_images=images)
        for case in range(60)
        for images in ("as-is", "swapped")
    ]
    endpoints = {
        "at reference": {"measure": "accuracy", "threshold": 0.6},
        "swapped": {"measure": "accuracy", "threshold": 0.6, "where": {"images": "swapped"}},
    }
    study = study_with(endpoints, "a", conditions={"images": ["as-is", "swapped"]})

    assert line(made_marks(rows), study, endpoint="at reference")["value"] == 1.0
    assert line(made_marks(rows), study, endpoint="swapped", slice='{"images":"swapped"}')["value"] == pytest.approx(
        2 / 3
    )


def test_against_people_it_is_the_difference_of_comparisons_csv() -> None:
    random = np.random.default_rng(1)
    rows = [mark(c, "right" if random.random() < 0.8 else "wrong", candidate="model") for c in range(40)]
    for person in ("ann", "bob", "cem"):
        outcomes = ["right" if random.random() < 0.7 else "wrong" for _ in range(40)]
        rows += [mark(c, outcome, candidate="human", person=person) for c, outcome in enumerate(outcomes)]
    endpoints = {"ni": {"measure": "accuracy", "test": "non-inferiority", "against": "people", "margin": 0.1}}
    study = study_with(endpoints, "model", "human")
    people = [c.model_copy(update={"provider": "people"} if c.name == "human" else {}) for c in study.candidates]
    study = study.model_copy(update={"candidates": people})
    marks = made_marks(rows)
    (difference,) = compare_people(marks.lazy(), study).to_dicts()
    result = line(marks, study)

    assert [result[key] for key in ("value", "low", "high")] == [difference[key] for key in ("value", "low", "high")]
    assert result["verdict"] == ("pass" if difference["low"] > -0.1 else "undecided")
    assert (result["p"] <= 0.025) == (difference["low"] > -0.1)


def test_the_number_of_cases_decides_with_the_power_it_promises() -> None:
    """Of normal values: mean .1 above the limit, SD .5: n = ((1.96 + .84) .5 / .1)^2 = 196.2."""
    figure = EndpointFigure(0.6, 0.45, 0.75, 40, 40, spread=lambda boundary: 0.5)

    assert clusters_needed(PartVerdict("{}", figure, Limits(0.5, None)), 40) == 197
    assert clusters_needed(PartVerdict("{}", figure, Limits(0.5, None)), 80) == 393  # of a group of half of the cases
    between = PartVerdict("{}", figure, Limits(0.5, 0.7))  # each side misses 10%
    assert clusters_needed(between, 40) == pytest.approx(
        (0.5 / 0.1 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.9))) ** 2, abs=1
    )
    assert clusters_needed(PartVerdict("{}", figure, Limits(0.6, None)), 40) is None  # at the limit


def test_few_cases_decide_nothing() -> None:
    study = study_with({"e": {"measure": "accuracy", "against": "b"}}, "a", "b")
    result = line(against("1111111", "0000000"), study)

    assert (result["verdict"], result["method"], result["p"]) == ("undecided", "too few cases", None)


def test_a_candidate_without_answers_is_undecided() -> None:
    study = study_with({"e": {"measure": "accuracy", "threshold": 0.5}}, "a", "absent")
    marks = made_marks([mark(case, "right", candidate="a") for case in range(20)])

    assert [(r["candidate"], r["verdict"], r["method"]) for r in decided(marks, study)][1] == (
        "absent",
        "undecided",
        "no answers",
    )


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ({"measure": "accuracy", "test": "equivalence", "threshold": 0.5}, "needs a `margin`"),
        ({"measure": "accuracy"}, "expected one of `against`"),
        ({"measure": "accuracy", "against": "b", "threshold": 0.5}, "expected one of `against`"),
        ({"measure": "accuracy", "threshold": 0.5, "where": {"images": "blank"}}, "no axis 'images'"),
        ({"measure": "accuracy", "threshold": 0.5, "marign": 0.1}, "Extra inputs"),
    ],
)
def test_a_wrong_endpoint_is_refused_with_its_study(endpoint: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        study_with({"e": endpoint})


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ({"measure": "acuracy", "threshold": 0.5}, "'acuracy' cannot be tested"),
        ({"measure": "ece", "against": "b"}, "'ece' cannot be tested"),
        ({"measure": "accuracy", "against": "d"}, "against = 'd'"),
        ({"measure": "accuracy", "against": "people"}, "against = 'people'"),
        ({"measure": "accuracy", "threshold": 0.5, "groups": ["hair"]}, "unknown group 'hair'"),
        ({"measure": "ccr", "threshold": 0.5, "groups": ["stage"]}, "has no meaning by stage"),
        ({"measure": "accuracy", "threshold": 80}, "so it is never 80"),
        ({"measure": "accuracy", "threshold": 1.0}, "never above 1: no candidate could pass"),
        ({"measure": "accuracy", "threshold": 0.95, "margin": 0.05}, "never above 1: no candidate could pass"),
        ({"measure": "unparsed", "threshold": 0.0}, "never below 0: no candidate could pass"),
        (
            {"measure": "accuracy", "threshold": 0.02, "margin": 0.05, "test": "non-inferiority"},
            "always above -0.03: every candidate would pass",
        ),
    ],
)
def test_an_endpoint_that_could_not_be_decided_is_refused_before_the_run(
    endpoint: dict[str, Any], problem: str
) -> None:
    with pytest.raises(WardroundError, match=problem):
        check_endpoints(study_with({"e": endpoint}))


def test_a_candidate_is_not_tested_against_itself_alone() -> None:
    with pytest.raises(WardroundError, match="no model besides 'a'"):
        check_endpoints(study_with({"e": {"measure": "accuracy", "against": "a"}}, "a"))


def test_two_primary_endpoints_are_refused() -> None:
    endpoint = {"measure": "accuracy", "threshold": 0.5, "primary": True}
    with pytest.raises(ValidationError, match="expected one at most"):
        study_with({"e": endpoint, "f": endpoint})


def test_a_study_without_endpoints_keeps_its_hash() -> None:
    """The hash of this study as version 0.1.0 computed it."""
    study = made_study("a", "b")

    assert study.hash == HASH_WITHOUT_ENDPOINTS
    assert study_with({"e": {"measure": "accuracy", "threshold": 0.5}}, "a", "b").hash != study.hash


HASH_WITHOUT_ENDPOINTS = "4583eb916a37c2e459cb8f1a9c4369416063993b6f6329e9432bfc554478bde6"


@pytest.mark.parametrize(("key", "better"), [("at_least", "higher"), ("at_most", "lower")])
def test_a_limit_is_a_threshold_and_the_side_that_is_better(key, better):
    limited = Endpoint.model_validate({"measure": "accuracy", key: 0.8})
    assert limited == Endpoint(measure="accuracy", threshold=0.8, better=better)


@pytest.mark.parametrize("other", [{"at_most": 0.9}, {"threshold": 0.9}, {"against": "people"}, {"better": "lower"}])
def test_a_limit_stands_alone(other):
    with pytest.raises(ValidationError, match="expected one of `at_least`"):
        Endpoint.model_validate({"measure": "accuracy", "at_least": 0.8, **other})
