"""Human rows: the mean over people, and an interval that holds the truth over people and cases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_marks import made_marks, mark
from test_people_compared import study_of

from wardround.measuring.people.figures import measure_people
from wardround.measuring.people.variance import BOTH, CASES, mean_over_people, score_interval


def answers(
    seed: int, people: int = 12, cases: int = 120, per_person: int = 60, accuracy: float = 0.6, between: float = 0.12
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People of different skill answer a part each of cases of different difficulty."""
    random = np.random.default_rng(seed)
    skill, ease = random.uniform(-between, between, people), random.uniform(-0.25, 0.25, cases)
    person = np.repeat(np.arange(people), per_person)
    case = np.concatenate([random.choice(cases, per_person, replace=False) for _ in range(people)])
    right = random.random(len(person)) < accuracy + skill[person] + ease[case]
    return person, np.unique(case, return_inverse=True)[1], right.astype(float)


def test_mean_and_interval_over_people_are_those_computed_by_hand() -> None:
    """Two people: 3 of 4 and 1 of 2. Mean .625; scores (y - .625) / (2 n) added up by hand."""
    person = np.array([0, 0, 0, 0, 1, 1])
    cluster = np.array([0, 1, 2, 3, 0, 1])
    value = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    result = mean_over_people(person, cluster, value)
    assert result.mean == pytest.approx(0.625)
    scores = np.array([0.375, 0.375, 0.375, -0.625, 2 * 0.375, 2 * -0.625]) / 8
    assert result.by_person == pytest.approx(2 * ((0.0625) ** 2 + 0.0625**2))  # (acc - mean) / 2, squared, times 2 / 1
    by_case = [scores[0] + scores[4], scores[1] + scores[5], scores[2], scores[3]]
    assert result.by_cluster == pytest.approx(4 / 3 * sum(x * x for x in by_case))


def test_both_parts_are_what_drawing_people_or_cases_anew_gives() -> None:
    person, case, value = answers(1)
    result = mean_over_people(person, case, value)
    people, cases = int(person.max()) + 1, int(case.max()) + 1
    random = np.random.default_rng(2)
    own = np.bincount(person, value) / np.bincount(person)
    drawn = own[random.integers(0, people, (20_000, people))].mean(axis=1)
    assert result.by_person == pytest.approx(drawn.var() * people / (people - 1), rel=0.05)
    redrawn = []
    for _ in range(4_000):
        weight = np.bincount(random.integers(0, cases, cases), minlength=cases)[case]
        redrawn.append((np.bincount(person, value * weight) / np.bincount(person, weight)).mean())
    # cases drawn anew leave each person's own mean where it is
    within = mean_over_people(person, case, value - own[person] + result.mean)
    assert within.by_cluster == pytest.approx(float(np.var(redrawn)) * cases / (cases - 1), rel=0.1)


def test_one_person_has_an_interval_over_cases_and_few_cases_have_none() -> None:
    person, case, value = answers(3, people=1)
    low, high, method = score_interval(mean_over_people(person, case, value), len(value))
    assert low is not None
    assert high is not None
    assert 0 < low < value.mean() < high < 1
    assert method == CASES
    assert score_interval(mean_over_people(person[:5], case[:5].argsort().argsort(), value[:5]), 5) == (
        None,
        None,
        "too few cases",
    )
    alike = score_interval(mean_over_people(*answers(4)[:2], np.ones(720)), 720)
    assert alike[1:] == (1.0, BOTH)
    assert alike[0] is not None
    assert 0.9 < alike[0] < 1


def covered(repeats: int, **how: float) -> float:
    """How often the interval holds the accuracy that people and cases were drawn around."""
    result = 0
    for seed in range(repeats):
        person, case, value = answers(1000 + seed, **how)  # type: ignore[arg-type]
        low, high, _ = score_interval(mean_over_people(person, case, value), len(value))
        assert low is not None
        assert high is not None
        result += low <= 0.6 <= high
    return result / repeats


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "cases", "per_person", "between"),
    [(12, 120, 60, 0.12), (5, 250, 50, 0.12), (5, 250, 50, 0.0), (20, 60, 60, 0.2), (8, 200, 200, 0.15)],
)
def test_the_interval_covers_the_truth(people: int, cases: int, per_person: int, between: float) -> None:
    assert 0.93 <= covered(2_000, people=people, cases=cases, per_person=per_person, between=between) <= 0.985


def test_people_are_in_the_slice_of_the_condition_they_answered_under() -> None:
    study = study_of(conditions={"telling": ["text", "multimodal"], "stem": ["full", "options-only"]})
    rows = [
        mark(case, "right" if case % 3 else "unparsed", candidate="human/student", person="cem", at_telling="text")
        for case in range(12)
    ]
    lines = measure_people(made_marks(rows).lazy(), study).filter(pl.col("measure") == "accuracy")
    assert lines["slice"].to_list() == [
        "{}",
        '{"telling":"text"}',
        '{"stem":"full"}',
        '{"stem":"full","telling":"text"}',
    ]
    assert lines["value"].to_list() == [pytest.approx(8 / 12)] * 4
    parsed = measure_people(made_marks(rows).lazy(), study).filter(pl.col("measure") == "accuracy_parsed")
    assert parsed.select("value", "n").row(0) == (1.0, 8)
