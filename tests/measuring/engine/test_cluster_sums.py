"""Columns of items are added up by cluster in two ways, for few items and for many."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.measuring.engine import sums
from wardround.measuring.engine.sums import cluster_sums, place_items

EIGHTHS = st.integers(-80, 80).map(lambda eighths: eighths / 8)


@settings(max_examples=40)
@given(
    items=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 1), EIGHTHS), min_size=1, max_size=40)
)
def test_few_and_many_items_have_the_same_sums(items: list[tuple[int, int, int, float]]) -> None:
    """The expected sums are a dictionary's."""
    candidate, cluster, slices, values = map(np.array, zip(*items, strict=True))
    placement = place_items(
        pl.DataFrame({"candidate": candidate, "cluster": cluster}), np.arange(len(items)), slices.astype(np.int64)
    )
    expected: dict[tuple[int, int, int], float] = {}
    for own_candidate, own_cluster, own_slice, value in items:
        key = (own_slice, own_candidate, own_cluster)
        expected[key] = expected.get(key, 0.0) + value

    for limit in (0, len(items)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sums, "MAX_COUNTED_ITEMS", limit)
            added_up = cluster_sums(placement, {"value": values.astype(np.float64)})
        assert added_up.rows[0].tolist() == [expected[key] for key in sorted(expected)]


def test_sums_without_columns_are_those_of_the_entries() -> None:
    placement = place_items(pl.DataFrame({"candidate": [0], "cluster": [0]}), np.array([0]), np.array([0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "MAX_COUNTED_ITEMS", 0)
        assert cluster_sums(placement, {}, {"one": np.array([1.0])}).rows.tolist() == [[1.0]]
