"""Compiled loops give the numbers of the NumPy code that small studies use, digit by digit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_marks import all_kinds
from polars.testing import assert_frame_equal

from wardround.measuring import measure
from wardround.measuring.engine import compiled, correlation, measurement
from wardround.measuring.engine.loops import ranks
from wardround.measuring.engine.loops.intervals import ratio_ends
from wardround.measuring.engine.loops.products import are_small_counts, multiply
from wardround.measuring.engine.loops.sums import (
    add_by_index,
    count_options,
    moments,
    number_distinct,
    product_totals,
)
from wardround.measuring.engine.resampling.percentiles import ENDS, percentile_intervals
from wardround.measuring.engine.wilson import ClusterMoments


def test_a_study_has_the_same_table_with_and_without_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks of every kind, so that every sum and kind of interval is there."""
    marks, study = all_kinds(["one", "two", "three"])
    tables = []
    for many in (len(marks) + 1, 1):
        monkeypatch.setattr(compiled, "_uses_loops", False)
        monkeypatch.setattr(measurement, "MANY_MARKS", many)
        tables.append(measure(marks, study))
        assert compiled.uses_loops() == (many == 1)
    assert_frame_equal(*tables, check_exact=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 31), (4, 32), (6, 33), (9, 70)])
def test_products_are_those_of_whole_numbers(dtype: type, height: int, width: int) -> None:
    """Integers in place of floats add up exactly; 611 resamples are some panels and a part of one."""
    random = np.random.default_rng(height)
    rows, counts = random.integers(-9, 9, (height, width)), random.integers(0, 5, (width + 3, 611), dtype=np.uint8)
    clusters, place = random.permutation(width + 3)[:width], random.permutation(height + 2)[:height]
    totals = np.full((height + 2, 611), np.nan)
    multiply(rows.astype(np.float64), clusters, counts, place, totals, dtype)
    assert (totals[place] == rows @ counts[clusters].astype(np.int64)).all()
    assert np.isnan(totals).all(axis=1).sum() == 2


def test_products_of_many_candidates_keep_every_digit() -> None:
    """Multiples of 2**-30, added up as whole numbers."""
    random = np.random.default_rng(3)
    quanta, counts = random.integers(0, 2**34, (5, 200)), random.integers(0, 5, (200, 300), dtype=np.uint8)
    totals = np.empty((5, 300))
    multiply(quanta / 2**30, np.arange(200), counts, np.arange(5), totals, np.float64)
    assert (totals * 2**30 == quanta @ counts.astype(np.int64)).all()


def test_small_counts_are_whole_and_within_the_limit() -> None:
    rows = np.array([[0.0, 3.0, 1.0], [0.0, 3.5, 1.0], [0.0, 4.0, 1.0], [-3.0, 0.0, 2.0], [0.0, 0.0, 2.0**-30]])
    assert are_small_counts(rows, 3.0).tolist() == [True, False, False, True, False]


def test_ratios_have_the_intervals_of_their_values() -> None:
    """Without a denominator there is no value, and it is left out."""
    random = np.random.default_rng(2)
    totals = random.integers(0, 2_000, (6, 2_000)).astype(np.float64)
    totals[4] = 0.0
    part, whole = np.array([0, 1, 2, 2]), np.array([3, 5, 3, 4])
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(totals[whole] > 0, totals[part] / totals[whole], np.nan)
    np.testing.assert_array_equal(ratio_ends(totals, part, whole, ENDS), percentile_intervals(values))


def test_moments_are_sums_over_the_clusters_of_each_cell() -> None:
    random = np.random.default_rng(1)
    whole = random.integers(0, 4, 50).astype(np.float64)
    part = np.rint(random.random(50) * whole * 2**30) / 2**30
    ends = np.array([0, 7, 8, 50])
    expected = ClusterMoments.of(part, whole, lambda values: np.add.reduceat(values, ends[:-1]))
    found = np.empty((len(expected), 3))
    moments(part, whole, ends, found)
    np.testing.assert_array_equal(found, np.array(expected))


def test_codes_are_numbered_in_their_order() -> None:
    codes = np.array([7, 2, 7, 0, 2])
    occurring, index = number_distinct(codes, 9)
    assert (occurring.tolist(), index.tolist()) == ([0, 2, 7], [2, 1, 2, 0, 1])


def test_products_over_cells_are_exact() -> None:
    """0.3 * 0.7 to the nearest multiple of 2**-30, then the whole numbers 2 * 3 and 4 * 5."""
    totals = product_totals(np.array([0.3, 2.0, 4.0]), np.array([0.7, 3.0, 5.0]), np.array([0, 1, 3]))
    assert totals.tolist() == [round(0.3 * 0.7 * 2**30) / 2**30, 26.0]


def test_options_are_counted_by_item() -> None:
    item, option = np.array([0, 0, 0, 1, 2]), np.array([2, 2, 0, -1, 1], np.int16)
    assert count_options(item, option, 3, 3).tolist() == [[1, 0, 2], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float64])
def test_values_of_any_type_are_added_up_by_index(dtype: type) -> None:
    totals = add_by_index(np.array([2, 0, 2]), np.array([1, 0, 1], dtype), 4)
    assert totals.tolist() == [0, 0, 2, 0]


@given(arrays(np.float64, (3, 7), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, np.inf])))
@settings(deadline=None)
def test_ranks_are_the_means_of_places(values: np.ndarray) -> None:
    expected = [[np.mean([k for k, v in enumerate(sorted(row)) if v == own]) for own in row] for row in values.tolist()]
    assert ranks.mean_ranks(values).tolist() == expected


def test_missing_values_have_the_last_ranks() -> None:
    """As NumPy sorts them."""
    values = np.array([[np.nan, 2.0, 1.0, np.nan, 1.0]])
    assert ranks.mean_ranks(values).tolist() == correlation.mean_ranks(values).tolist() == [[3, 2, 0.5, 4, 0.5]]


@given(arrays(np.float64, (2, 2, 6), elements=st.sampled_from([0.0, 0.25, 0.5])))
@settings(deadline=None)
def test_pairs_are_those_of_a_walk_through_all(values: np.ndarray) -> None:
    first, second = values
    opposed, differing = np.empty((2, 2))
    ranks.count_pairs(first, second, opposed, differing)
    for row in range(2):
        pairs = [((a - b), (c - d)) for (a, c), (b, d) in combinations(zip(first[row], second[row], strict=True), 2)]
        assert opposed[row] == sum(x * y < 0 for x, y in pairs)
        assert differing[row] == sum(x != 0 for x, _ in pairs)
