"""Slices: over which marks a figure is taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.marking.slices import AGE_BANDS
from wardround.measuring.coded import Coded

SUBJECT_KEYS = (
    *("specialty", "modality", "tag", "split", "sex", "age_band"),
    *("stage", "skill", "capability", "grade", "kind", "task", "chain"),
)
NATURAL_ORDER = {"age_band": [name for _, name in AGE_BANDS], "grade": ["R", "A", "S"]}


@dataclass(frozen=True)
class Slicing:
    """One way of taking the whole apart: its slices as JSON, in order, and who belongs to which.

    `members` names, for each question (`subject`) or condition, the number of its slice; a question with
    several values is in several slices.
    """

    slices: list[str]
    members: pl.DataFrame
    on: str

    def of(self, items: pl.DataFrame) -> pl.DataFrame:
        """The items, each with the number of its `slice`, once for every slice that it is in."""
        return items.join(self.members, on=self.on, how="inner")


def slicings(coded: Coded, study: Study) -> list[Slicing]:
    """The whole, each axis that varies, each pair of them, all of them; then each key with two or more values."""
    axes = study.varied_axes
    found = [_by_axes(coded, study, ()), *(_by_axes(coded, study, (axis,)) for axis in axes)]
    found += [_by_axes(coded, study, pair) for pair in combinations(axes, 2)]
    if len(axes) > 2:
        found.append(_by_axes(coded, study, tuple(axes)))
    return found + [slicing for key in SUBJECT_KEYS if (slicing := _by_key(coded, key)) is not None]


def _by_axes(coded: Coded, study: Study, axes: tuple[str, ...]) -> Slicing:
    """Slices of conditions. Every value that the study names has one, also when nothing was asked there."""
    named = [dict(zip(axes, values, strict=True)) for values in product(*(study.conditions[axis] for axis in axes))]
    asked = [{axis: condition[axis] for axis in axes} for condition in coded.conditions]
    if len(axes) > 1:  # a pair of values that cannot be asked together is no slice
        named = [values for values in named if values in asked]
    slices = [canonical_json(values) for values in named + [values for values in asked if values not in named]]
    slices = list(dict.fromkeys(slices))
    numbers = [slices.index(canonical_json(values)) for values in asked]
    members = pl.DataFrame(
        {"condition": range(len(asked)), "slice": numbers}, schema={"condition": pl.UInt32, "slice": pl.UInt32}
    )
    return Slicing(slices, members, "condition")


def _by_key(coded: Coded, key: str) -> Slicing | None:
    """Slices of a key of cases or questions, if it has two or more values."""
    members = coded.subjects.select("subject", value=key)
    if isinstance(members.schema["value"], pl.List):
        members = members.explode("value").unique()
    members = members.drop_nulls()
    values = _in_order(key, members["value"].unique())
    if len(values) < 2:
        return None
    number = pl.col("value").cast(pl.Enum(values)).to_physical().cast(pl.UInt32).alias("slice")
    return Slicing([canonical_json({key: value}) for value in values], members.select("subject", number), "subject")


def _in_order(key: str, values: Iterable[str]) -> list[str]:
    natural = NATURAL_ORDER.get(key, [])
    return sorted(values, key=lambda value: (natural.index(value) if value in natural else len(natural), value))
