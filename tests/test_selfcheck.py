"""Every measure finds the planted figures, and none fires for the counterparts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from wardround.selfcheck.acceptance_level import CLAIMS, ENDPOINTS, measure_acceptance
from wardround.selfcheck.comparison_coverage import KINDS, measure_comparisons
from wardround.selfcheck.coverage_designs import DESIGNS
from wardround.selfcheck.interval_coverage import measure_coverage
from wardround.selfcheck.planted import (
    PlantedFigure,
    PlantedResult,
    expected_c,
    majority_right,
    max_misses,
    run_selfcheck,
)


@pytest.fixture(scope="module")
def rows() -> list[PlantedResult]:
    """Of a third of the cases that the command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wardround.selfcheck.planted.CASES", 80)
        return run_selfcheck(note=lambda line: None)


def test_no_more_truths_lie_outside_than_intervals_of_95_percent_allow(rows: list[PlantedResult]) -> None:
    check_rows(rows)


@pytest.mark.slow
def test_nor_do_they_with_all_cases_of_the_command() -> None:
    check_rows(run_selfcheck(note=lambda line: None))


def check_rows(rows: list[PlantedResult]) -> None:
    outside = [row.to_dict() for row in rows if not row.is_as_planted]
    assert len(rows) > 50
    assert len(outside) <= max_misses(len(rows)), outside
    assert max_misses(60) == 9  # of 60 at 0.05 more than 9 lie outside once in a thousand


def test_coverage_is_measured_for_small_samples_and_can_fail() -> None:
    """Three designs at 12 clusters; half of the intervals would not do."""
    named = {design.name: design for design in DESIGNS}
    chosen = [named[name] for name in ("correlated clusters", "rare errors", "stated confidence, 0 too high")]
    measured = measure_coverage(200, note=lambda line: None, designs=chosen, sizes=(12,))
    assert {row.trials for row in measured} == {1, 5}
    assert [row.to_dict() for row in measured if not row.is_met] == []
    assert all(not replace(row, coverage=0.5).is_met for row in measured)


@pytest.mark.slow
def test_differences_and_groups_are_covered() -> None:
    measured = measure_comparisons(120, note=lambda line: None, sizes=(12,), group_sizes=(36,))
    assert {row.truth.measure for row in measured} == set(KINDS)
    assert [row.to_dict() for row in measured if not row.is_met] == []
    (agreement, *_) = [row for row in measured if row.truth.kind == "agreement"]
    assert not replace(agreement, coverage=0.99).is_met


@pytest.mark.slow
def test_endpoints_hold_their_level_at_the_limit() -> None:
    measured = measure_acceptance(60, note=lambda line: None, sizes=(20,))
    assert {row.truth.measure for row in measured} == set(CLAIMS)
    assert [row.to_dict() for row in measured if not row.is_met] == []
    assert not any(replace(row, coverage=0.85).is_met for row in measured)


def test_a_margin_that_is_not_lost_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation itself: candidates as good as the other one are far from a margin of .1 in 400 cases."""
    (design,) = [design for design in ENDPOINTS if design.name == "non-inferiority"]
    monkeypatch.setattr("wardround.selfcheck.acceptance_level.ENDPOINTS", (design._replace(worse=0.0),))
    measured = measure_acceptance(20, note=lambda line: None, sizes=(400,))
    falsely_passed = [row for row in measured if row.truth.measure == "no pass at the limit"]
    assert all(row.coverage < 0.5 and not row.is_met for row in falsely_passed)


def test_there_are_enough_figures_and_counterparts(rows: list[PlantedResult]) -> None:
    kinds = Counter(row.plant.counter for row in rows)
    assert kinds[True] >= 10
    assert kinds[False] >= 40


@pytest.mark.parametrize(
    ("value", "low", "high"), [(None, None, None), (0.4, 0.36, 0.44), (0.6, 0.55, 0.65), (0.46, None, None)]
)
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
