"""What people's confidence is worth: by hand, against an oracle, and its intervals against a planted truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from made_marks import made_marks, mark
from sklearn.metrics import brier_score_loss
from test_people_compared import study_of

from wardround.measuring.people.confidence import confidence_estimates
from wardround.measuring.people.figures import measure_people
from wardround.measuring.people.variance import PeopleEstimate, mean_over_people

ANN = [(0.9, 1), (0.9, 0), (0.9, 1), (0.6, 1), (0.6, 0), (0.6, 0), (0.3, 0), (0.3, 1), (0.3, 0)]
BOB = [(1.0, 1), (0.9, 0), (0.5, 1)]


def stated_rows(**people: list[tuple[float | None, int]]) -> list[dict[str, Any]]:
    return [
        mark(case, "right" if right else "wrong", candidate="human/attending", person=name, confidence=sure)
        for name, answers in people.items()
        for case, (sure, right) in enumerate(answers)
    ]


def measured(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    lines = measure_people(made_marks(rows).lazy(), study_of()).filter(pl.col("slice") == "{}")
    return {row["measure"]: row for row in lines.iter_rows(named=True)}


def test_confidence_of_people_is_that_computed_by_hand() -> None:
    by_measure = measured(stated_rows(ann=ANN, bob=BOB))
    sure, right = (np.array([value[part] for value in (*ANN, *BOB)]) for part in (0, 1))
    weight = np.repeat([1 / 18, 1 / 6], [9, 3])  # each person counts alike
    assert weight.sum() == pytest.approx(1)
    assert by_measure["confidence_stated"]["value"] == pytest.approx(weight @ sure)
    assert by_measure["calibration_shift_stated"]["value"] == pytest.approx(weight @ (sure - right))
    brier = brier_score_loss(right, sure, sample_weight=weight)
    assert by_measure["brier_stated"]["value"] == pytest.approx(brier)
    gaps = [  # bins .2 to .3, .4 to .5, .5 to .6, .8 to .9, .9 to 1
        (0.9 - 1) / 18,
        (0.5 - 1) / 6,
        (1.8 - 1) / 18,
        (2.7 - 2) / 18 + 0.9 / 6,
        0.0,
    ]
    plug_in = by_measure["ece_stated"]
    assert plug_in["value"] == pytest.approx(sum(map(abs, gaps)))
    assert (plug_in["low"], plug_in["method"]) == (None, "mean over 2 people; no interval")
    calibrated = by_measure["ece_if_calibrated_stated"]["value"]
    noise = [3 * 0.21 / 18**2, 0.25 / 36, 3 * 0.24 / 18**2, 3 * 0.09 / 18**2 + 0.09 / 36, 0.0]
    assert calibrated == pytest.approx(sum(np.sqrt(2 * np.array(noise) / np.pi)))
    debiased = by_measure["ece_debiased_stated"]
    assert debiased["value"] < plug_in["value"]
    assert debiased["method"] == "mean over 2 people; people and cases"
    assert by_measure["confidence_missing_stated"]["value"] == 0.0


def test_only_answers_without_a_number_are_missing() -> None:
    by_measure = measured(stated_rows(ann=[*ANN, (None, 1)]))
    assert by_measure["confidence_missing_stated"]["value"] == pytest.approx(0.1)
    assert by_measure["confidence_stated"]["n"] == 9
    assert by_measure["confidence_stated"]["method"] == "mean over 1 person; one person: cases only"
    silent = measured(stated_rows(ann=[(None, right) for _, right in ANN]))
    assert set(silent) == {"accuracy", "accuracy_parsed", "unparsed"}


def test_a_constant_confidence_has_no_interval() -> None:
    line = measured(stated_rows(ann=[(0.8, right) for _, right in ANN]))["confidence_stated"]
    assert (line["value"], line["low"], line["method"]) == (pytest.approx(0.8), None, "mean over 1 person; all alike")


def sampled_answers(
    seed: int, people: int, cases: int, per_person: int, over: float
) -> tuple[pl.DataFrame, np.ndarray]:
    """People of their own skill and their own overconfidence; they state the chance to be right, plus that."""
    random = np.random.default_rng(seed)
    skill, ease = random.normal(0, 0.1, people), random.uniform(-0.2, 0.2, cases)
    bias = over + random.normal(0, 0.05, people)
    person = np.repeat(np.arange(people), per_person)
    case = np.concatenate([random.choice(cases, per_person, replace=False) for _ in range(people)])
    chance = np.clip(0.65 + skill[person] + ease[case], 0.05, 0.98)
    stated = np.clip(np.round((chance + bias[person]) * 20) / 20, 0.05, 1)
    right = (random.random(len(chance)) < chance).astype(float)
    return pl.DataFrame({"person": person, "cluster": case, "confidence": stated, "value": right}), chance


def truth(over: float) -> dict[str, float]:
    """ECE and shift of ever more people and cases, counted without a word of wardround."""
    marks, chance = sampled_answers(10**6, 3000, 3000, 60, over)
    stated = marks["confidence"].to_numpy()
    at = np.ceil(np.round(stated * 10, 6)).astype(int)
    ece = sum(abs((stated - chance)[at == number].sum()) for number in set(at)) / len(at)
    return {"ece_debiased_stated": float(ece), "calibration_shift_stated": float((stated - chance).mean())}


@pytest.mark.parametrize(("people", "cases", "per_person"), [(3, 60, 24), (12, 120, 60)])
@pytest.mark.parametrize("over", [0.0, 0.1, 0.25])
def test_the_intervals_cover_the_truth(people: int, cases: int, per_person: int, over: float) -> None:
    planted, repeats = truth(over), 200
    result = dict.fromkeys(planted, 0)
    for seed in range(repeats):
        fields: dict[str, PeopleEstimate] = {}
        for figure in confidence_estimates(sampled_answers(seed, people, cases, per_person, over)[0]):
            if figure.low is not None:
                fields[figure.measure] = figure
        for name, value in planted.items():
            low, high = fields[name].low, fields[name].high
            assert low is not None
            assert high is not None
            result[name] += low <= value <= high
    assert all(0.9 <= many / repeats <= 1.0 for many in result.values()), result


def test_a_mean_over_stages_weighs_each_alike_and_varies_as_its_people_do() -> None:
    random = np.random.default_rng(3)
    person, stage = np.repeat(np.arange(6), 60), np.tile(np.repeat([0, 0, 0, 1, 1, 2], 10), 6)
    case = np.tile(np.arange(60) % 20, 6)
    skill = random.uniform(-0.2, 0.2, 6)
    value = (random.random(360) < 0.6 + skill[person] - 0.1 * stage).astype(float)
    result = mean_over_people(person, case, value, stage)
    own = np.array([[value[(person == p) & (stage == s)].mean() for s in range(3)] for p in range(6)])
    assert result.mean == pytest.approx(own.mean())
    assert result.by_person == pytest.approx(own.mean(axis=1).var(ddof=1) / 6)
