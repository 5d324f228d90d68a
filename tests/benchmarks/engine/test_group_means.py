"""Means over groups of cases that only a benchmark's tables have: the interval and the p of a paired difference."""

import polars as pl
import pytest

from wardround.benchmarks.engine.group_means import CaseValues, group_means, sign_flip_p_values
from wardround.measuring.engine.measure import MeasureKind


def group(values):
    names = [f"c{number:02}" for number in range(len(values))]
    return names, {"": CaseValues(pl.Series(names), pl.Series(values, dtype=pl.Float64))}


@pytest.mark.parametrize("losses", [5, 6])
def test_the_interval_of_paired_differences_has_0_outside_exactly_if_p_is_at_most_5_percent(losses):
    """Of 15 cases five or six lose: all flips give p = 2 / 32 and 2 / 64."""
    clusters, groups = group([-1.0] * losses + [0.0] * (15 - losses))
    (cell,) = group_means(groups, MeasureKind.SIGNED, clusters, seed=0).values()
    ((p, _),) = sign_flip_p_values(groups, clusters, seed=0).values()
    assert p == pytest.approx(2 / 2**losses)
    assert (cell.low <= 0 <= cell.high) == (p > 0.05)


@pytest.mark.parametrize("cases", [15, 60])
def test_cases_that_all_change_alike_do_not_make_a_change_certain(cases):
    clusters, groups = group([0.0] * cases)
    (cell,) = group_means(groups, MeasureKind.SIGNED, clusters, seed=0).values()
    assert cell.low < cell.value == 0 < cell.high


def test_a_mean_of_similarities_has_an_interval_if_its_cases_differ() -> None:
    clusters = [f"patient {number}" for number in range(10)]
    values = {"differ": [0.3 + number / 50 for number in range(10)], "alike": [0.39] * 10}
    groups = {name: CaseValues(pl.Series(clusters), pl.Series(group)) for name, group in values.items()}

    cells = group_means(groups, MeasureKind.COMPOSITE, clusters, seed=0)

    assert cells["differ"].value == pytest.approx(0.39)
    assert cells["differ"].low is not None
    assert cells["differ"].high is not None
    assert 0.3 < cells["differ"].low < 0.39 < cells["differ"].high < 0.48
    assert (cells["alike"].low, cells["alike"].high) == (None, None)
