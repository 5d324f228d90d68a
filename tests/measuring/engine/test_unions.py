"""Sums of slices that are unions of others: added up, they are those that resampling them gives."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_marks import degraded, frame, made_study

from wardround.measuring import measure
from wardround.measuring.engine import measurement
from wardround.measuring.engine.resampling import unions
from wardround.measuring.engine.resampling.bootstrap import SumBlock
from wardround.measuring.engine.resampling.composed import Composition, SliceSums
from wardround.measuring.engine.resampling.unions import UnionPlan, find_unions

NAMES = ("one", "two", "three")
pytestmark = pytest.mark.usefixtures("with_and_without_loops")


@pytest.fixture(scope="module")
def marks() -> pl.DataFrame:
    """Degraded and clean questions of candidates, by type, category, severity and capability."""
    random = np.random.default_rng(3)
    return frame([row for place, name in enumerate(NAMES) for row in degraded(random, name, 0.5 + 0.1 * place, 90)])


@pytest.fixture
def composed(monkeypatch) -> list[int]:
    """How many rows were added up from those of other slices, each time that any were."""
    counts, add_up = [], Composition.add_up
    monkeypatch.setattr(
        Composition,
        "add_up",
        lambda composition, totals: counts.append(len(composition.rows)) or add_up(composition, totals),
    )
    return counts


def measured(marks: pl.DataFrame) -> pl.DataFrame:
    return measure(marks, made_study(*NAMES, trials=10))


def without_plan(monkeypatch) -> None:
    monkeypatch.setattr(measurement, "plan_unions", lambda slicings, *_: UnionPlan(range(len(slicings))))


def test_what_is_added_up_is_what_resampling_gives(marks, composed, monkeypatch):
    added_up = measured(marks)
    assert sum(composed) > 500
    composed.clear()
    without_plan(monkeypatch)
    assert measured(marks).equals(added_up)
    assert not composed


def test_a_plan_that_is_wrong_changes_no_figure(marks, monkeypatch):
    """Every slice is said to be the union of any two of the first slicings, in which it mostly is not."""

    def wrong_plan(slicings, *_) -> UnionPlan:
        parts = [[(first, 0), (second, 0)] for first in range(3) for second in range(first)]
        slices = [(number, slice) for number, slicing in enumerate(slicings) for slice in range(len(slicing.slices))]
        return UnionPlan(range(len(slicings)), {slice: parts for slice in slices if slice[0] > 2})

    monkeypatch.setattr(measurement, "plan_unions", wrong_plan)
    wrong = measured(marks)
    without_plan(monkeypatch)
    assert measured(marks).equals(wrong)


def test_sums_that_find_no_room_are_resampled_again(marks, composed, monkeypatch):
    added_up = measured(marks)
    composed.clear()
    monkeypatch.setattr("wardround.measuring.engine.resampling.composed.MAX_KNOWN_BYTES", 0)
    assert measured(marks).equals(added_up)
    assert not composed


def shared_items(memberships: list[list[int]], slices: int) -> np.ndarray:
    members = np.zeros((len(memberships), slices))
    for item, numbers in enumerate(memberships):
        members[item, numbers] = 1
    return members.T @ members


def test_unions_are_disjoint_and_complete():
    """All; L1, L2, L1+L2; four types: w and x make up L1, y and z L2, until an item of z is at both levels."""
    everything, l1, l2, both, w, x, y, z = range(8)
    apart = [[l1, both, w], [l1, both, x], [l1, both, x], [l2, both, y], [l2, both, z]]
    starts = np.array([0, 1, 4, 8])

    unions = find_unions(shared_items([[everything, *slices] for slices in apart], 8), starts)
    overlapping = [[everything, *slices] for slices in [*apart, [l1, l2, both, z]]]
    of_overlapping = find_unions(shared_items(overlapping, 8), starts)

    by_type = [(2, number) for number in range(4)]
    assert unions == {
        (0, 0): [[(1, 0), (1, 1)], by_type],
        (1, 0): [by_type[:2]],
        (1, 1): [by_type[2:]],
        (1, 2): [[(1, 0), (1, 1)], by_type],
    }
    assert of_overlapping == {(0, 0): [by_type], (1, 1): [by_type[2:]], (1, 2): [by_type]}


def slice_sums(rows: dict[str, list[int]], sums: list[list[float]]) -> SliceSums:
    """Sums of one candidate over three clusters."""
    numbers = {name: np.array(row) for name, row in rows.items()}
    return SliceSums((0, 0), True, np.array([0]), SumBlock(np.arange(3), np.array(sums)), numbers)


def test_a_sum_that_is_the_difference_of_two_others_is_not_resampled():
    rows = {"agreement": [0], "majority": [1], "share_shift": [2], "certainty": [3], "calibrated_shift": [4]}
    sums = slice_sums(rows, [[0.5, 2, 1], [0, 1, 1], [0.5, 1, 0], [1, 2, 3], [0.5, 0, 1]])
    row, first, second = sums.differences()
    assert (row.tolist(), first.tolist(), second.tolist()) == ([2], [0], [1])  # 3 - 1 is not 1


def test_sums_that_share_a_row_are_not_made_of_themselves():
    """Nothing was unparsed, so that right and possibly right are one row."""
    rows = {"possibly_right_choice": [0], "right_choice": [0], "unparsed": [1]}
    assert [len(part) for part in slice_sums(rows, [[3, 1, 2], [0, 0, 0]]).differences()] == [0, 0, 0]


def test_differences_change_no_figure(marks, monkeypatch):
    subtracted = measured(marks)
    monkeypatch.setattr("wardround.measuring.engine.resampling.composed.DIFFERENCES", {})
    assert measured(marks).equals(subtracted)


@pytest.mark.parametrize("most_dense", [0, 64])
def test_items_that_slices_share_are_counted_alike_for_few_and_many_slices(most_dense, monkeypatch):
    """Items 0 to 2 are in slice 0, items 1 and 2 in slice 1, item 3 in none of these."""
    monkeypatch.setattr(unions, "MAX_DENSE_SLICES", most_dense)
    item, slice = np.array([0, 1, 2, 1, 2, 3]), np.array([0, 0, 0, 1, 1, 2])

    shared = unions._shared_items(item, slice, (4, 3))

    assert shared.tolist() == [[3, 2, 0], [2, 2, 0], [0, 0, 1]]
