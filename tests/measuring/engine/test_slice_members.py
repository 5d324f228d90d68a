"""Which items are in which slices, against a walk through every item."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from wardround.measuring.engine.known_sums import shared_by_differences
from wardround.measuring.engine.slices import SliceMembers, Slicing

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=6, unique=True)


def numbers(name: str, values: list[int | None]) -> pl.Series:
    return pl.Series(name, values, dtype=pl.UInt32)


@given(
    items=st.lists(st.tuples(st.sampled_from([0, 1, 2, None]), st.integers(0, 3)), min_size=1, max_size=12),
    of_type=PAIRS,
    of_subject=PAIRS,
)
def test_an_item_is_in_each_pair_of_its_slices(
    items: list[tuple[int | None, int]], of_type: list[tuple[int, int]], of_subject: list[tuple[int, int]]
) -> None:
    members = [
        SliceMembers(on, pl.DataFrame([numbers(on, [a for a, _ in pairs]), numbers("slice", [b for _, b in pairs])]), 3)
        for on, pairs in (("type", of_type), ("subject", of_subject))
    ]
    types, subjects = zip(*items, strict=True)
    index = pl.DataFrame([numbers("type", list(types)), numbers("subject", list(subjects))])

    row, slice = Slicing(("type", "subject"), [], tuple(members)).assign(index)

    assert row.tolist() == sorted(row.tolist())
    assert sorted(zip(row.tolist(), slice.tolist(), strict=True)) == sorted(
        (place, 3 * first + second)
        for place, (type_, subject) in enumerate(items)
        for value, first in of_type
        for other, second in of_subject
        if (value, other) == (type_, subject)
    )


def test_what_several_sums_are_the_difference_from_is_worth_having() -> None:
    """`shift` is certainty minus worst@1, and so is `shift_all` of certainty_all."""
    assert shared_by_differences({"certainty", "shift", "certainty_all", "shift_all"}) == {"worst@1"}
    assert shared_by_differences({"certainty", "shift", "shift_all"}) == set()
