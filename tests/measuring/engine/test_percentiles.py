"""Percentile intervals from the tails of rows, against sorting and NumPy's quantiles."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wardround.measuring.engine.resampling.percentiles import percentile_interval, percentile_intervals

pytestmark = pytest.mark.usefixtures("with_and_without_loops")
FEW_VALUES = st.sampled_from([0.0, 0.1, 0.5, 1.0, np.nan])


def ends_of_sorted(values: list[float]) -> tuple[float, float]:
    """Linear between the neighbours of 2.5% and 97.5% in the sorted known values."""
    ordered = sorted(value for value in values if value == value)
    if not ordered:
        return np.nan, np.nan
    ends = []
    for share in ((1 - 0.95) / 2, (1 + 0.95) / 2):
        place = (len(ordered) - 1) * share
        a, b = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
        ends.append(a + (b - a) * (place - int(place)))
    return ends[0], ends[1]


def rows_of_many_shapes() -> np.ndarray:
    """Rows whose first values say nothing of the others, with ties, infinities and missing values among them."""
    random = np.random.default_rng(4)
    normal, skewed = random.normal(size=2_000), random.exponential(size=2_000) ** 6
    missing, infinite = normal.copy(), skewed.copy()
    missing[random.random(2_000) < 0.3], infinite[random.random(2_000) < 0.01] = np.nan, np.inf
    rows = [normal, np.sort(normal), -np.sort(-normal), skewed, -skewed, np.round(normal), missing, infinite]
    return np.array([*rows, np.full(2_000, 0.25), np.full(2_000, np.nan), np.repeat([0.0, 1.0], [1_990, 10])])


def test_rows_of_any_shape_have_the_interval_of_their_sorted_values():
    rows = rows_of_many_shapes()
    for low, high, row in zip(*percentile_intervals(rows), rows.tolist(), strict=True):
        np.testing.assert_array_equal((low, high), ends_of_sorted(row))


def test_the_ends_are_numpys_quantiles():
    values = np.random.default_rng(5).gamma(2.0, size=(7, 2_000))
    np.testing.assert_allclose(percentile_intervals(values), np.quantile(values, [0.025, 0.975], axis=1), rtol=1e-12)


def test_rows_in_single_precision_have_the_interval_of_the_same_numbers():
    values = np.random.default_rng(6).normal(size=(5, 2_000)).astype(np.float32)
    np.testing.assert_array_equal(percentile_intervals(values), percentile_intervals(values.astype(np.float64)))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 300).flatmap(lambda size: arrays(np.float64, size, elements=FEW_VALUES)))
def test_short_rows_with_ties_have_the_interval_of_their_sorted_values(values):
    np.testing.assert_array_equal(percentile_interval(values), ends_of_sorted(values.tolist()))


def test_a_row_has_the_same_interval_among_any_others():
    rows = rows_of_many_shapes()
    alone = [percentile_interval(row) for row in rows]
    np.testing.assert_array_equal(np.array(alone).T, percentile_intervals(rows))


@pytest.mark.parametrize("count", [0, 1])
def test_no_rows_and_one_row_are_allowed(count):
    low, high = percentile_intervals(np.zeros((count, 2_000)))
    assert low.tolist() == high.tolist() == [0.0] * count
