"""Every measure finds the planted figures, and none fires for the counterparts."""

from __future__ import annotations

from collections import Counter

import pytest

from wardround.selfcheck.planted import PlantedFigure, PlantedResult, expected_c, majority_right, run_selfcheck


@pytest.fixture(scope="module")
def rows() -> list[PlantedResult]:
    return run_selfcheck(note=lambda line: None)


def test_every_figure_is_as_planted(rows: list[PlantedResult]) -> None:
    assert [row.to_dict() for row in rows if not row.is_as_planted] == []


def test_no_more_truths_lie_outside_than_intervals_of_95_percent_allow(rows: list[PlantedResult]) -> None:
    stochastic = [row for row in rows if row.high is not None and row.low is not None and row.high - row.low > 1e-3]
    outside = sum(not row.covered for row in stochastic)
    assert len(stochastic) > 30
    assert outside <= 6  # a binomial of 0.05 exceeds this once in a thousand


def test_there_are_enough_figures_and_counterparts(rows: list[PlantedResult]) -> None:
    kinds = Counter(row.plant.counter for row in rows)
    assert kinds[True] >= 10
    assert kinds[False] >= 40


@pytest.mark.parametrize(("value", "low", "high"), [(None, None, None), (0.3, 0.25, 0.35), (0.6, 0.55, 0.65)])
def test_a_value_far_from_the_truth_is_not_as_planted(
    value: float | None, low: float | None, high: float | None
) -> None:
    assert not PlantedResult(PlantedFigure("accuracy", "m", 0.45), value, low, high).is_as_planted


def test_closed_forms_are_those_of_the_specification() -> None:
    """C is .200 at T = 10 and .487 at T = 3 for p = (.4, .3, .2, .1)."""
    shares = [0.4, 0.3, 0.2, 0.1]
    assert expected_c(shares, 10) == pytest.approx(0.200, abs=5e-4)
    assert expected_c(shares, 3) == pytest.approx(0.487, abs=5e-4)
    assert majority_right([0.5, 0.5], 1) == pytest.approx(0.5)
    assert majority_right([0.6, 0.4], 3) == pytest.approx(0.6**3 + 3 * 0.6**2 * 0.4)
