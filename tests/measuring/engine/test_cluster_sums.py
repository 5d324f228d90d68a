"""Columns of items are added up by cluster in two ways, by NumPy and by a compiled loop."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.measuring.engine import compiled
from wardround.measuring.engine.sums import SumStorage, cluster_sums, place_items

EIGHTHS = st.integers(-80, 80).map(lambda eighths: eighths / 8)


@settings(max_examples=40, deadline=None)
@given(
    items=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 1), EIGHTHS), min_size=1, max_size=40)
)
def test_numpy_and_the_loop_give_the_same_sums(items: list[tuple[int, int, int, float]]) -> None:
    """The expected sums are a dictionary's."""
    candidate, cluster, slices, values = map(np.array, zip(*items, strict=True))
    placement = place_items(
        pl.DataFrame({"candidate": candidate, "cluster": cluster}), np.arange(len(items)), slices.astype(np.int64)
    )
    expected: dict[tuple[int, int, int], float] = {}
    for own_candidate, own_cluster, own_slice, value in items:
        key = (own_slice, own_candidate, own_cluster)
        expected[key] = expected.get(key, 0.0) + value

    for uses_loops in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "_uses_loops", uses_loops)
            added_up = cluster_sums(placement, {"value": values.astype(np.float64)})
        assert added_up.rows[0].tolist() == [expected[key] for key in sorted(expected)]


def test_sums_without_columns_are_those_of_the_entries() -> None:
    placement = place_items(pl.DataFrame({"candidate": [0], "cluster": [0]}), np.array([0]), np.array([0]))
    assert cluster_sums(placement, {}, {"one": np.array([1.0])}).rows.tolist() == [[1.0]]


def test_a_storage_holds_the_sums_that_were_asked_for_last() -> None:
    placement = place_items(pl.DataFrame({"candidate": [0, 0], "cluster": [0, 1]}), np.arange(2), np.zeros(2, np.int64))
    storage = SumStorage()
    for count, values in ((1, [1.0, 2.0]), (3, [5.0, 6.0]), (2, [7.0, 8.0])):
        columns = {f"sum {number}": number + np.array(values) for number in range(count)}
        rows = cluster_sums(placement, columns, storage=storage).rows
        assert rows.tolist() == [[number + value for value in values] for number in range(count)]
