"""Selective prediction: intervals of the area under the risk-coverage curve and of the coverage at a fixed risk."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_marks import at, frame, made_study, mark, measure_rows, row
from scipy.stats import t

from wardround.measuring import measure
from wardround.measuring.measures import selective
from wardround.measuring.measures.selective import coverage_at_risk


def stated_rows(cases: int, seed: int, questions: int = 1) -> list[dict]:
    """A calibrated respondent with confidences between 0 and 1, to two decimals; questions of a case are alike."""
    random = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        confidence = round(float(random.random()), 2)
        right = "right" if random.random() < confidence else "wrong"
        for question in range(questions):
            fields = {"question": f"q{question}", "confidence": confidence, "condition": at(confidence="verbal")}
            rows.append(mark(case, right, **fields))
    return rows


def area_by_hand(confidence: np.ndarray, wrong: np.ndarray, weight: np.ndarray) -> float:
    """With whole weights: the mean risk of the k most confident, ties in proportion."""
    _, level = np.unique(-confidence, return_inverse=True)
    answered, errors = (np.concatenate([[0], np.cumsum(np.bincount(level, v))]) for v in (weight, weight * wrong))
    k = np.arange(1, int(weight.sum()) + 1)
    return float(np.mean(np.interp(k, answered, errors) / k))


def test_the_interval_of_the_area_is_that_of_resampled_curves() -> None:
    """Linear sums against a bootstrap that draws whole curves, with other random numbers."""
    rows, random = stated_rows(200, 1), np.random.default_rng(2)
    confidence = np.array([line["confidence"] for line in rows])
    wrong = np.array([line["outcome"] == "wrong" for line in rows], float)
    drawn = [
        area_by_hand(confidence, wrong, np.bincount(random.integers(0, 200, 200), minlength=200).astype(float))
        for _ in range(1000)
    ]
    line = row(measure_rows(rows), "aurc_stated")

    assert line["value"] == pytest.approx(area_by_hand(confidence, wrong, np.ones(200)), abs=1e-7)
    assert (line["low"], line["high"]) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.012)


def test_the_interval_of_the_area_is_students_of_its_log_odds() -> None:
    """If all confidences are equal the risk is 5 of 20 at every coverage, and the claims differ only in being wrong."""
    for cases, wrong in ((20, 5), (60, 15)):
        marks = [
            mark(case, "wrong" if case < wrong else "right", confidence=0.8, condition=at(confidence="verbal"))
            for case in range(cases)
        ]
        line = row(measure_rows(marks), "aurc_stated")
        reach = t.ppf(0.975, cases - 1) * np.sqrt(0.25 * 0.75 / (cases - 1)) / (0.25 * 0.75)
        assert (line["value"], line["method"]) == (pytest.approx(0.25), "student of log odds")
        assert (line["low"], line["high"]) == pytest.approx((1 / (1 + 3 * np.exp(reach)), 1 / (1 + 3 * np.exp(-reach))))


def test_questions_of_one_case_do_not_count_as_more_cases() -> None:
    single, tripled = (
        row(measure_rows(stated_rows(80, 3, questions)), "coverage@risk10_stated") for questions in (1, 3)
    )

    assert tripled["n"] == 3 * single["n"]
    assert [tripled[key] for key in ("value", "low", "high")] == [single[key] for key in ("value", "low", "high")]


def test_the_coverage_at_a_risk_by_hand() -> None:
    """Confidences .9, .8, .7, .6 with 10, 5, 4, 1 claims and 0, 1, 2, 1 errors: 1/15 is allowed, 3/19 is not."""
    claims, wrong = np.array([10.0, 5, 4, 1]), np.array([0.0, 1, 2, 1])

    assert coverage_at_risk(claims, wrong) == pytest.approx(15 / 20)
    assert coverage_at_risk(claims[::-1], wrong[::-1]) == 0.0
    assert coverage_at_risk(claims, wrong, risk=0.2) == 1.0


@pytest.mark.parametrize(
    ("cases", "outcome", "expected"),
    [
        (12, "right", (1.0, 0.0, 1.0)),  # the risk may be 3.841 / 15.841 = .24
        (60, "right", (1.0, 1.0, 1.0)),  # the risk is at most 3.841 / 63.841 = .06
        (60, "wrong", (0.0, 0.0, 0.0602)),  # none of 60: 3.841 / 63.841
    ],
)
def test_at_0_and_1_the_interval_is_a_point_only_if_the_risk_is_shown(
    cases: int, outcome: str, expected: tuple[float, float, float]
) -> None:
    """Wilson's end for none of n is z^2 / (n + z^2), z^2 = 3.8415."""
    condition = at(confidence="verbal")
    rows = [mark(case, outcome, confidence=0.9, condition=condition) for case in range(cases)]
    line = row(measure_rows(rows), "coverage@risk10_stated")

    assert (line["value"], line["low"], line["high"]) == pytest.approx(expected, abs=1e-4)
    assert line["method"] == "wilson"


def test_many_confidences_are_cut_at_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stated_rows(300, 4)
    whole = row(measure_rows(rows), "coverage@risk10_stated")["value"]
    monkeypatch.setattr(selective, "MAX_THRESHOLDS", 40)
    cut = row(measure_rows(rows), "coverage@risk10_stated")["value"]

    assert cut == pytest.approx(whole, abs=0.06)


def test_it_is_written_at_the_reference_condition_and_by_one_axis() -> None:
    rows = [line | {"specialty": "neuro" if place % 2 else "chest"} for place, line in enumerate(stated_rows(40, 5))]
    rows += [line | {"condition": at(confidence="verbal", images="blank")} for line in rows]
    study = made_study(conditions={"images": ["as-is", "blank"], "confidence": ["verbal"]})
    written = measure(frame(rows), study).filter(pl.col("measure") == "coverage@risk10_stated")

    assert written["slice"].to_list() == ["{}", '{"images":"as-is"}', '{"images":"blank"}']


@pytest.mark.slow
def test_the_intervals_hold_the_truth() -> None:
    """A calibrated respondent with uniform confidences: the risk at coverage c is c / 2, so 1/4 and .20 are true."""
    truth, samples = {"aurc_stated": 0.25, "coverage@risk10_stated": 0.2}, 100
    hits = dict.fromkeys(truth, 0)
    for seed in range(samples):
        table = measure_rows(stated_rows(60, 1000 + seed))
        for name, value in truth.items():
            line = row(table, name)
            hits[name] += line["low"] <= value + 0.005 and line["high"] >= value - 0.005  # confidences are rounded

    assert min(hits.values()) >= 0.88 * samples  # 94% each, three standard errors below
