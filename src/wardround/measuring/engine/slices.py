"""Slices: over which marks a figure is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from math import inf
from typing import NamedTuple

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.marking.slice_values import AGE_BANDS, CLEAN
from wardround.measuring.engine.encode import Coded
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import Whole

SUBJECT_KEYS = (
    *("specialty", "modality", "tag", "split", "sex", "age_band"),
    *("stage", "skill", "capability", "grade", "kind", "task", "chain"),
)
NATURAL_ORDER = {
    "age_band": [name for _, name in AGE_BANDS],
    "grade": ["R", "A", "S"],
    "stage": ["IQA", "AL", "LC", "DD", "SG", "CD"],
    "severity": [CLEAN, "L1", "L2", "L1+L2"],
}
MEANS = {"stage": "swa", "grade": "esa"}  # the keys whose unweighted mean is a measure
NUMBER = re.compile(r"\d+(\.\d+)?")
POOLED = {"L1+L2": ("L1", "L2")}  # severities that MedQ-Deg's tables take together
BY_SEVERITY = ("capability", "skill", "modality", "category", "type")
CHANGED_BY = ("capability", "modality", "category", "type")
MEANS_BY_SEVERITY = ("capability", "category")  # MedQ-Deg's averages are unweighted means over these
DEGRADED = frozenset(  # what is measured by severity and another key
    {"accuracy", "accuracy_parsed", "majority_accuracy", "unparsed", "brier"}
    | {"confidence", "confidence_missing", "vote_share", "calibration_shift"}
)


class Members(NamedTuple):
    """Who belongs to which slice: a column of items and, for its values, the number of the slice."""

    on: str
    frame: pl.DataFrame  # that column and `slice`
    slices: int


@dataclass(frozen=True)
class Slicing:
    """One way of taking the whole apart: its slices as JSON, in order, and who belongs to which.

    A question with several values, such as modalities, is in several slices.
    """

    keys: tuple[str, ...]
    slices: list[str]
    members: tuple[Members, ...]
    only: frozenset[str] = frozenset()  # crossed for these measures alone
    averaged: str = ""  # the key over which an unweighted mean is taken of all that it holds

    def of(self, index: pl.DataFrame) -> tuple[Whole, Whole]:
        """Which items are in which slice: their rows, never falling, and the numbers of the slices."""
        found = index.select({each.on for each in self.members}).with_row_index("row").with_columns(number=pl.lit(0))
        for on, frame, slices in self.members:
            found = found.join(frame, on=on, how="inner", maintain_order="left")
            found = found.with_columns(number=pl.col("number") * slices + pl.col("slice").cast(pl.Int64)).drop("slice")
        found = found.sort("row", maintain_order=True)
        return tuple(found[name].cast(pl.Int64).to_numpy() for name in ("row", "number"))  # type: ignore[return-value]

    def holds(self, measure: Measure) -> bool:
        """Whether a measure is written by these keys."""
        if self.only and measure.name not in self.only:
            return False
        return (not measure.where or measure.where in self.keys) and not measure.not_by & set(self.keys)

    def mean_over(self, measure: Measure) -> str:
        """The key over which the unweighted mean of a measure is taken here, or nothing."""
        if not self.holds(measure):
            return ""
        return measure.where if measure.where in MEANS else self.averaged


def slicings(coded: Coded, study: Study) -> list[Slicing]:
    """The whole, each axis that varies, each pair of them, all of them; then each key with two or more values.

    Stages and grades are crossed with the axes for the measures whose mean is taken over them, severities with
    what MedQ-Deg's tables show at each of them.
    """
    axes = study.varied_axes
    crossed = [_by_axes(coded, study, ()), *(_by_axes(coded, study, (axis,)) for axis in axes)]
    crossed += [_by_axes(coded, study, pair) for pair in combinations(axes, 2)]
    if len(axes) > 2:
        crossed.append(_by_axes(coded, study, tuple(axes)))
    by_key = {key: slicing for key in SUBJECT_KEYS if (slicing := _by_key(coded, key)) is not None}
    strata = {key: slicing for key in coded.strata if (slicing := _by_stratum(coded, key)) is not None}
    means = [
        _product(slicing, by_key[key], frozenset({only}))
        for key, only in MEANS.items()
        if key in by_key
        for slicing in crossed
        if slicing.keys
    ]
    return [*crossed, *by_key.values(), *strata.values(), *means, *_at_each_severity(coded, by_key | strata)]


def _at_each_severity(coded: Coded, by_key: dict[str, Slicing]) -> list[Slicing]:
    """Severities crossed with other keys. What was not degraded has no type and no category."""
    if "severity" not in by_key:
        return []
    found = []
    for key in (key for key in BY_SEVERITY if key in by_key):
        severities = _by_stratum(coded, "severity", leave_out=CLEAN) if key in coded.strata else by_key["severity"]
        if severities is not None:
            averaged = key if key in MEANS_BY_SEVERITY else ""
            found.append(_product(severities, by_key[key], DEGRADED, averaged))
    return found


def degraded_slicings(coded: Coded) -> list[Slicing]:
    """Severities but L0, alone and crossed with what changes are told by."""
    severities = _by_stratum(coded, "severity", fewest=1, leave_out=CLEAN) if coded.strata else None
    if severities is None:
        return []
    found = [severities]
    for key in CHANGED_BY:
        by = _by_stratum(coded, key) if key in coded.strata else _by_key(coded, key)
        if by is not None:
            found.append(_product(severities, by, averaged=key if key in MEANS_BY_SEVERITY else ""))
    return found


def _by_axes(coded: Coded, study: Study, axes: tuple[str, ...]) -> Slicing:
    """Slices of conditions. Every value that the study names has one, also when nothing was asked there."""
    named = [dict(zip(axes, values, strict=True)) for values in product(*(study.conditions[axis] for axis in axes))]
    asked = [{axis: condition[axis] for axis in axes} for condition in coded.conditions]
    if len(axes) > 1:  # a pair of values that cannot be asked together is no slice
        named = [values for values in named if values in asked]
    slices = [canonical_json(values) for values in named + [values for values in asked if values not in named]]
    slices = list(dict.fromkeys(slices))
    numbers = [slices.index(canonical_json(values)) for values in asked]
    return Slicing(axes, slices, (Members("condition", _frame("condition", range(len(asked)), numbers), len(slices)),))


def _by_key(coded: Coded, key: str) -> Slicing | None:
    """Slices of a key of cases or questions, if it has two or more values, or one that not all of them have."""
    members = coded.subjects.select("subject", value=key)
    if isinstance(members.schema["value"], pl.List):
        members = members.explode("value").unique()
    members = members.drop_nulls().sort("subject", "value")
    values = in_order(key, members["value"].unique())
    if not values or (len(values) == 1 and len(members) == len(coded.subjects)):
        return None
    number = pl.col("value").cast(pl.Enum(values)).to_physical().cast(pl.UInt32).alias("slice")
    slices = [canonical_json({key: value}) for value in values]
    return Slicing((key,), slices, (Members("subject", members.select("subject", number), len(slices)),))


def _by_stratum(coded: Coded, key: str, fewest: int = 2, leave_out: str = "") -> Slicing | None:
    """Slices of what was degraded and how far, if there are two or more; L1 and L2 also together."""
    there = coded.strata[key]
    if len(there) < fewest or there == [leave_out]:
        return None
    parts: dict[str, tuple[str, ...]] = {value: (value,) for value in there if value != leave_out}
    if key == "severity":
        parts |= {whole: (*of, whole) for whole, of in POOLED.items() if set(of) <= set(there)}
    values = in_order(key, parts)
    members = [
        (there.index(part), place) for place, value in enumerate(values) for part in parts[value] if part in there
    ]
    slices = [canonical_json({key: value}) for value in values]
    return Slicing((key,), slices, (Members(key, _frame(key, *zip(*members, strict=True)), len(values)),))


def _product(first: Slicing, second: Slicing, only: frozenset[str] = frozenset(), averaged: str = "") -> Slicing:
    both = [canonical_json(json.loads(a) | json.loads(b)) for a, b in product(first.slices, second.slices)]
    return Slicing((*first.keys, *second.keys), both, (*first.members, *second.members), only, averaged)


def _frame(on: str, numbers: Iterable[int], slices: Iterable[int]) -> pl.DataFrame:
    return pl.DataFrame({on: list(numbers), "slice": list(slices)}, schema={on: pl.UInt32, "slice": pl.UInt32})


def in_order(key: str, values: Iterable[str]) -> list[str]:
    """As they are usually told; numbers (severities) as numbers, anything else by name."""
    natural = NATURAL_ORDER.get(key, [])

    def place(value: str) -> tuple[int, float, str]:
        number = float(value) if key == "severity" and NUMBER.fullmatch(value) else inf
        return natural.index(value) if value in natural else len(natural), number, value

    return sorted(values, key=place)
