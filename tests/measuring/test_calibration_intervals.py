"""ECE and AUROC: what their noise is counted over, and intervals against oracles."""

import numpy as np
import polars as pl
import pytest
from interval_oracle import effective_answers, rate_by_solving
from made_marks import at, made_marks, made_study, mark, row, votes
from scipy.optimize import brentq
from scipy.stats import norm, t
from sklearn.metrics import roc_auc_score

from wardround.measuring import measure

VERBAL = at(confidence="verbal")


def stated(confidence, right, trials=1, **fields):
    return [
        mark(case, "right" if is_right else "wrong", trial=trial, confidence=number, condition=VERBAL, **fields)
        for case, (number, is_right) in enumerate(zip(confidence, right, strict=True))
        for trial in range(trials)
    ]


def calibrated(seed, cases=200, too_high=0.0):
    random = np.random.default_rng(seed)
    confidence = random.choice([0.55, 0.65, 0.75, 0.85, 0.95], cases)
    return confidence, random.random(cases) < confidence - too_high


def test_identical_trials_are_one_piece_of_evidence():
    """Five identical trials change neither ECE nor its noise, what chance gives, or the interval."""
    once, five = (measure(made_marks(stated(*calibrated(3), trials)), made_study(trials=trials)) for trials in (1, 5))
    for name in ("ece_stated", "ece_debiased_stated", "ece_if_calibrated_stated"):
        first, repeated = row(once, name), row(five, name)
        for figure in ("value", "low", "high"):
            assert first[figure] == pytest.approx(repeated[figure], abs=1e-7), (name, figure)


def test_the_interval_of_ece_is_that_of_its_definition():
    confidence, right = calibrated(5, too_high=0.15)
    line = row(measure(made_marks(stated(confidence, right)), made_study()), "ece_debiased_stated")
    gap = confidence - right
    bins = [gap[confidence == level] for level in np.unique(confidence)]
    plug_in = sum(abs(own.sum()) for own in bins)
    variances = [float((own**2).sum()) for own in bins]
    quantile = t.ppf(0.975, 199)
    signs = {level: 1 if own.sum() >= 0 else -1 for level, own in zip(np.unique(confidence), bins, strict=True)}
    signed = gap * [signs[level] for level in confidence]
    error = np.sqrt(200 / 199 * ((signed - plug_in / 200) ** 2).sum())
    chance = sum(np.sqrt(2 * v / np.pi) for v in variances) + quantile * np.sqrt((1 - 2 / np.pi) * sum(variances))
    random = np.random.default_rng(0)
    noisy = [
        np.abs(own.sum() + np.sqrt(v) * random.standard_normal(400_000)).mean()
        for own, v in zip(bins, variances, strict=True)
    ]
    debiased = 2 * plug_in - sum(noisy)
    assert line["method"] == "calibration"
    assert line["value"] == pytest.approx(debiased / 200, abs=5e-4)
    assert line["low"] == pytest.approx(max(plug_in - chance, debiased - quantile * error) / 200, abs=5e-4)
    assert line["high"] == pytest.approx((plug_in + quantile * error) / 200, abs=1e-6)


def test_a_calibrated_candidate_has_an_upper_bound_only():
    lines = measure(made_marks(stated(*calibrated(1))), made_study())
    line = row(lines, "ece_debiased_stated")
    assert (line["low"], line["method"]) == (0.0, "upper bound")
    assert 0.05 < line["high"] < 0.15
    plug_in = row(lines, "ece_stated")
    assert plug_in["low"] <= plug_in["value"] <= plug_in["high"] == line["high"]


def test_errors_not_yet_seen_are_allowed_for():
    """Twelve right answers at .9: a candidate that is right in 90% gives that in 28 of 100 samples.

    The share right may be as low as Wilson's bound for 12 of 12, and the mean gap then reaches .9 minus that.
    """
    for trials in (1, 5):
        table = measure(made_marks(stated([0.9] * 12, [True] * 12, trials)), made_study(trials=trials))
        fewest = 12 / (12 + norm.ppf(0.975) ** 2)
        for name in ("ece_stated", "ece_debiased_stated"):
            line = row(table, name)
            assert (line["value"], line["low"], line["method"]) == (pytest.approx(0.1, abs=1e-5), 0.0, "upper bound")
            assert line["high"] == pytest.approx(0.9 - fewest)


def test_the_interval_of_ece_with_few_errors_is_that_of_its_definition():
    """40 answers at .95, 8 of them wrong: in one bin, so that all can be written down."""
    gap = np.array([-0.05] * 32 + [0.95] * 8)
    line = row(measure(made_marks(stated([0.95] * 40, gap < 0)), made_study()), "ece_stated")
    variance = max((gap**2).sum(), 40 * 0.95 * 0.05)
    quantile = t.ppf(0.975, 39)
    chance = np.sqrt(2 * variance / np.pi) + quantile * np.sqrt((1 - 2 / np.pi) * variance)
    error = np.sqrt(40 / 39 * ((gap - 0.15) ** 2).sum())
    noisy = np.abs(gap.sum() + np.sqrt(variance) * np.random.default_rng(0).standard_normal(400_000)).mean()
    right = rate_by_solving(0.8, effective_answers([float(own < 0) for own in gap], [1.0] * 40))
    low = max(gap.sum() - chance, min(2 * gap.sum() - noisy - quantile * error, 40 * (0.95 - right[1])))
    assert line["value"] == pytest.approx(0.15)
    assert line["low"] == pytest.approx(low / 40, abs=5e-4)
    assert line["high"] == pytest.approx(max(0.15 + quantile * error / 40, 0.95 - right[0]), abs=1e-3)


def test_open_answers_have_a_confidence_of_their_own():
    """Accuracy is of choices alone, and so is the confidence that it is compared with."""
    rows = stated([0.8] * 20, [True] * 10 + [False] * 10)
    opened = {"kind": "open", "question": "o", "k": None, "gold": None, "option": None}
    rows += [mark(case, "right", confidence=0.2, condition=VERBAL, hits=[True], **opened) for case in range(20)]
    table = measure(made_marks(rows), made_study())
    assert row(table, "accuracy")["value"] == 0.5
    assert row(table, "calibration_shift_stated")["value"] == pytest.approx(0.3)
    assert (row(table, "ece_stated")["n"], row(table, "ece_stated")["value"]) == (20, pytest.approx(0.3))
    assert row(table, "calibration_shift_stated_open")["value"] == pytest.approx(-0.8)
    assert row(table, "confidence_stated_open")["value"] == pytest.approx(0.2)


def test_the_brier_score_of_a_tie_is_the_mean_over_its_ways_to_be_broken():
    """Two votes for A, which is right, two for B: confidence .5, right in one of two ways: (.25 + .25) / 2, not 0."""
    marks = made_marks(line for case in range(10) for line in votes(case, "0011"))
    line = row(measure(marks, made_study(trials=4)), "brier")
    assert line["value"] == pytest.approx((0.5**2 + 0.5**2) / 2)


def newcombe(auroc: float, right: int, wrong: int, scale: float) -> tuple[float, float]:
    """Newcombe's method 5 by solving for the AUROCs that are just 1.96 standard errors away."""
    half = (right + wrong) / 2 - 1

    def away(other: float) -> float:
        spread = 1 + half * (1 - other) / (2 - other) + half * other / (1 + other)
        return (auroc - other) ** 2 - norm.ppf(0.975) ** 2 * scale * other * (1 - other) / (right * wrong) * spread

    return brentq(away, 1e-12, auroc), brentq(away, auroc, 1 - 1e-12)


def test_the_auroc_of_few_cases_has_a_score_interval():
    confidence = np.array([0.9, 0.8, 0.85, 0.6, 0.7, 0.95, 0.5, 0.55, 0.65, 0.75, 0.45, 0.62])
    right = np.array([1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0], bool)
    line = row(measure(made_marks(stated(confidence, right)), made_study()), "auroc_stated")
    auroc = roc_auc_score(right, confidence)
    beaten = np.array([np.mean(confidence[~right] < own) for own in confidence[right]])
    beating = np.array([np.mean(confidence[right] > own) for own in confidence[~right]])
    between = 12 / 11 * (((beaten - auroc) ** 2).sum() / 7**2 + ((beating - auroc) ** 2).sum() / 5**2)
    half = 5
    alike = auroc * (1 - auroc) / 35 * (1 + half * (1 - auroc) / (2 - auroc) + half * auroc / (1 + auroc))
    scale = 0.5 * between / alike + 0.5  # five clusters of the rarer kind: as much trust as doubt
    assert (line["value"], line["method"]) == (pytest.approx(auroc), "score")
    assert (line["low"], line["high"]) == pytest.approx(newcombe(auroc, 7, 5, scale), abs=1e-6)


def test_an_auroc_of_1_from_few_cases_is_not_certain():
    line = row(
        measure(made_marks(stated([0.9] * 8 + [0.3] * 4, [True] * 8 + [False] * 4)), made_study()), "auroc_stated"
    )
    assert (line["value"], line["high"]) == (1.0, 1.0)
    assert 0.4 < line["low"] < 0.8


def test_the_auroc_of_many_cases_is_not_certain_either():
    """All 40 right claims above all 20 wrong ones: every resample has the same AUROC, 1."""
    line = row(
        measure(made_marks(stated([0.9] * 40 + [0.3] * 20, [True] * 40 + [False] * 20)), made_study()), "auroc_stated"
    )
    assert (line["value"], line["high"], line["method"]) == (1.0, 1.0, "score")
    assert 0.85 < line["low"] < 0.98


def test_claims_that_spread_more_than_usual_widen_the_interval_of_auroc():
    """Right claims at both extremes, wrong ones in the middle: DeLong's variance is 1.5 that of Hanley and McNeil."""
    confidence = [0.99, 0.01] * 50 + [0.5] * 100
    line = row(measure(made_marks(stated(confidence, [True] * 100 + [False] * 100)), made_study()), "auroc_stated")
    delong = np.sqrt(0.25 / 100)
    assert line["value"] == 0.5
    assert line["high"] - line["low"] == pytest.approx(2 * norm.ppf(0.975) * delong, rel=0.08)


def test_a_chain_is_not_a_slice():
    rows = [mark(case, stage=stage, question=stage, chain=f"c{case}") for case in range(10) for stage in ("IQA", "AL")]
    slices = measure(made_marks(rows), made_study())["slice"]
    assert not slices.str.contains("chain").any()
    assert pl.Series(['{"stage":"AL"}']).is_in(slices.implode()).all()
