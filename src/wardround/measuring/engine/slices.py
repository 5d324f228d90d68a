"""Slices: the parts of a study that measures are taken over."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.marking.slice_values import AGE_BANDS
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import Integers

SUBJECT_KEYS = (
    *("specialty", "modality", "tag", "split", "sex", "age_band"),
    *("stage", "skill", "capability", "grade", "kind", "task"),  # not chain: each is a single case
)
NATURAL_ORDER = {
    "age_band": [name for _, name in AGE_BANDS],
    "grade": ["R", "A", "S"],
    "stage": ["IQA", "AL", "LC", "DD", "SG", "CD"],
    "severity": [CLEAN_LEVEL, "L1", "L2", "L1+L2"],
}
MEANS = {"stage": "swa", "grade": "esa"}  # the keys whose unweighted mean is a measure
NUMBER = re.compile(r"\d+(\.\d+)?")
POOLED = {"L1+L2": ("L1", "L2")}  # severities that MedQ-Deg's tables pool
BY_SEVERITY = ("capability", "skill", "modality", "category", "type")
CHANGED_BY = ("capability", "modality", "category", "type")
MEANS_BY_SEVERITY = ("capability", "category")  # MedQ-Deg's averages are unweighted means over these
DEGRADATION = "degradation"  # the axis that types, severities and categories come from
COMPARING_DEGRADATIONS = frozenset({"dke_intra"})
DEGRADED = frozenset(  # the measures written, with their variants, by severity and another key
    {"accuracy", "accuracy_parsed", "majority_accuracy", "unparsed", "refused", "brier"}
    | {"confidence", "confidence_missing", "vote_share", "calibration_shift"}
)


class SliceMembers(NamedTuple):
    """Membership in slices: a column of items and, for its values, the number of the slice."""

    on: str
    frame: pl.DataFrame  # that column and `slice`
    slices: int

    def find(self, values: pl.Series) -> tuple[Integers, Integers]:
        """The places of the values that are in a slice, in their order, and the slice; one for each slice of a value.

        Values are whole numbers, so that a table of them takes a fraction of the time of a join.
        """
        members, slices = (self.frame[name].cast(pl.Int64).to_numpy() for name in (self.on, "slice"))
        nothing = max(members.max(initial=-1), values.max() or 0) + 1
        value = (values.fill_null(nothing) if values.null_count() else values).to_numpy()
        times = np.bincount(members, minlength=nothing + 1)
        if times.max() <= 1:
            slice_of = np.full(nothing + 1, -1)
            slice_of[members] = slices
            slice = slice_of[value]
            place = np.flatnonzero(slice >= 0)
            return place, slice if len(place) == len(slice) else slice[place]
        first, slices = np.cumsum(times) - times, slices[np.argsort(members, kind="stable")]
        count = times[value]
        place = np.repeat(np.arange(len(value)), count)
        nth = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        return place, slices[first[value[place]] + nth]


@dataclass(frozen=True)
class Slicing:
    """One way of dividing the marks: its slices as JSON, in order, and their members.

    A question with several values, such as modalities, is in several slices.
    """

    keys: tuple[str, ...]
    slices: list[str]
    members: tuple[SliceMembers, ...]
    only_measures: frozenset[str] = frozenset()  # empty: all
    mean_key: str = ""  # the key whose values get an unweighted mean, for every measure
    fixed: frozenset[str] = frozenset()  # the varied axes that are at their reference

    def assign(self, index: pl.DataFrame) -> tuple[Integers, Integers]:
        """The row of each item, in ascending order, and the number of its slice."""
        first, *others = self.members
        row, number = first.find(index[first.on])
        for member in others:
            place, slice = member.find(index[member.on].gather(row))
            row, number = row[place], number[place] * member.slices + slice
        return row, number

    def is_by_one_axis(self, study: Study) -> bool:
        """Whether these are the reference condition, or the values of one axis."""
        return not self.only_measures and (not self.keys or (len(self.keys) == 1 and self.keys[0] in study.varied_axes))

    def includes(self, measure: Measure) -> bool:
        """Whether a measure is written by these keys."""
        if self.only_measures and measure.base not in self.only_measures:
            return False
        if measure.compares in self.fixed or measure.never_by & set(self.keys):
            return False
        return not measure.only_by or measure.only_by in self.keys

    def mean_over(self, measure: Measure) -> str:
        """The key whose values get an unweighted mean of the measure here; empty: none."""
        if not self.includes(measure):
            return ""
        return measure.only_by if measure.only_by in MEANS else self.mean_key


def slicings(encoded: EncodedMarks, study: Study) -> list[Slicing]:
    """The reference condition, each axis that varies, each pair of them, all of them; then each key of the cases.

    An axis that a slice does not name is at its reference. Stages and grades are crossed with the axes for the
    measures whose mean is taken over them, severities with what MedQ-Deg's tables show at each of them.
    """
    axes = study.varied_axes
    crossed = [_by_axes(encoded, study, ()), *(_by_axes(encoded, study, (axis,)) for axis in axes)]
    crossed += [_by_axes(encoded, study, pair) for pair in combinations(axes, 2)]
    if len(axes) > 2:
        crossed.append(_by_axes(encoded, study, tuple(axes)))
    by_key = {key: slicing for key in SUBJECT_KEYS if (slicing := _by_key(encoded, key)) is not None}
    strata = {key: slicing for key in encoded.strata if (slicing := _by_stratum(encoded, key)) is not None}
    means = [
        _product(slicing, by_key[key], frozenset({only}))
        for key, only in MEANS.items()
        if key in by_key
        for slicing in crossed
        if slicing.keys
    ]
    over_degradations = _by_axes(encoded, study, (), over=DEGRADATION)
    severities = [_at_reference(over_degradations, slicing) for slicing in _at_each_severity(encoded, by_key | strata)]
    return [
        *crossed,
        *(_at_reference(crossed[0], slicing) for slicing in by_key.values()),
        *(_at_reference(over_degradations, slicing) for slicing in strata.values()),
        *means,
        *severities,
        *_of_compared_axes(encoded, study, by_key),
    ]


def _of_compared_axes(encoded: EncodedMarks, study: Study, by_key: dict[str, Slicing]) -> list[Slicing]:
    """For measures that compare the values of an axis: over all of its values."""
    if DEGRADATION not in study.varied_axes:
        return []
    others = [axis for axis in study.varied_axes if axis != DEGRADATION]
    over = [_by_axes(encoded, study, keys, over=DEGRADATION) for keys in ((), *((axis,) for axis in others))]
    over += [_at_reference(over[0], slicing) for slicing in by_key.values()]
    return [replace(slicing, only_measures=COMPARING_DEGRADATIONS) for slicing in over]


def _at_reference(conditions: Slicing, slicing: Slicing) -> Slicing:
    """The slicing under these conditions alone."""
    if not conditions.fixed:
        return slicing
    return _product(conditions, slicing, slicing.only_measures, slicing.mean_key)


def _at_each_severity(encoded: EncodedMarks, by_key: dict[str, Slicing]) -> list[Slicing]:
    """Severities crossed with other keys. What was not degraded has no type and no category."""
    if "severity" not in by_key:
        return []
    crossed = []
    for key in (key for key in BY_SEVERITY if key in by_key):
        severities = (
            _by_stratum(encoded, "severity", leave_out=CLEAN_LEVEL) if key in encoded.strata else by_key["severity"]
        )
        if severities is not None:
            mean_key = key if key in MEANS_BY_SEVERITY else ""
            crossed.append(_product(severities, by_key[key], DEGRADED, mean_key))
    return crossed


def degraded_slicings(encoded: EncodedMarks) -> list[Slicing]:
    """Severities but L0, alone and crossed with the keys of CHANGED_BY."""
    severities = _by_stratum(encoded, "severity", min_values=1, leave_out=CLEAN_LEVEL) if encoded.strata else None
    if severities is None:
        return []
    crossed = [severities]
    for key in CHANGED_BY:
        slicing = _by_stratum(encoded, key) if key in encoded.strata else _by_key(encoded, key)
        if slicing is not None:
            crossed.append(_product(severities, slicing, mean_key=key if key in MEANS_BY_SEVERITY else ""))
    return crossed


def _by_axes(encoded: EncodedMarks, study: Study, axes: tuple[str, ...], over: str = "") -> Slicing:
    """Slices of conditions, the other axes at their reference, but for the axis `over`, of which all values count.

    Every value that the study names has a slice, even if nothing was asked there.
    """
    fixed = frozenset(study.varied_axes) - {*axes, over}
    numbers = conditions_at(encoded, {axis: study.reference_condition[axis] for axis in fixed})
    declared = [dict(zip(axes, values, strict=True)) for values in product(*(study.conditions[axis] for axis in axes))]
    asked = [{axis: encoded.conditions[number][axis] for axis in axes} for number in numbers]
    if len(axes) > 1:  # a pair of values that cannot be asked together is not a slice
        declared = [values for values in declared if values in asked]
    slices = [canonical_json(values) for values in declared + [values for values in asked if values not in declared]]
    slices = list(dict.fromkeys(slices))
    places = [slices.index(canonical_json(values)) for values in asked]
    members = SliceMembers("condition", _frame("condition", numbers, places), len(slices))
    return Slicing(axes, slices, (members,), fixed=fixed)


def conditions_at(encoded: EncodedMarks, values: Mapping[str, str]) -> list[int]:
    """The numbers of the conditions that have these values."""
    return [number for number, axes in enumerate(encoded.conditions) if values.items() <= axes.items()]


def _by_key(encoded: EncodedMarks, key: str) -> Slicing | None:
    """Slices of a key of cases or questions, if it has two or more values, or one that not all of them have."""
    if _is_absent(encoded.subjects[key]):
        return None  # before anything is sorted: most sets lack most keys
    members = encoded.subjects.select("subject", value=key)
    if isinstance(members.schema["value"], pl.List):
        members = members.explode("value").unique()
    members = members.drop_nulls().sort("subject", "value")
    values = in_order(key, members["value"].unique())
    if not values or (len(values) == 1 and len(members) == len(encoded.subjects)):
        return None
    number = pl.col("value").cast(pl.Enum(values)).to_physical().cast(pl.UInt32).alias("slice")
    slices = [canonical_json({key: value}) for value in values]
    return Slicing((key,), slices, (SliceMembers("subject", members.select("subject", number), len(slices)),))


def _is_absent(column: pl.Series) -> bool:
    """Whether no case or question has a value, or all have the same; of lists, only whether all are empty."""
    if isinstance(column.dtype, pl.List):
        return not column.list.len().sum()
    return column.null_count() == len(column) or (not column.null_count() and column.n_unique() == 1)


def _by_stratum(encoded: EncodedMarks, key: str, min_values: int = 2, leave_out: str = "") -> Slicing | None:
    """Slices of a degradation's type, severity or category, if there are two or more; L1 and L2 also pooled."""
    present = encoded.strata[key]
    if len(present) < min_values or present == [leave_out]:
        return None
    parts: dict[str, tuple[str, ...]] = {value: (value,) for value in present if value != leave_out}
    if key == "severity":
        parts |= {pooled: (*levels, pooled) for pooled, levels in POOLED.items() if set(levels) <= set(present)}
    values = in_order(key, parts)
    members = [
        (present.index(part), place) for place, value in enumerate(values) for part in parts[value] if part in present
    ]
    slices = [canonical_json({key: value}) for value in values]
    return Slicing((key,), slices, (SliceMembers(key, _frame(key, *zip(*members, strict=True)), len(values)),))


def _product(
    first: Slicing, second: Slicing, only_measures: frozenset[str] = frozenset(), mean_key: str = ""
) -> Slicing:
    both = [canonical_json(json.loads(a) | json.loads(b)) for a, b in product(first.slices, second.slices)]
    members, fixed = (*first.members, *second.members), first.fixed | second.fixed
    return Slicing((*first.keys, *second.keys), both, members, only_measures, mean_key, fixed)


def _frame(on: str, numbers: Iterable[int], slices: Iterable[int]) -> pl.DataFrame:
    return pl.DataFrame({on: list(numbers), "slice": list(slices)}, schema={on: pl.UInt32, "slice": pl.UInt32})


def in_order(key: str, values: Iterable[str]) -> list[str]:
    """In their natural order; numbers (severities) as numbers, anything else by name."""
    natural = NATURAL_ORDER.get(key, [])

    def place(value: str) -> tuple[int, float, str]:
        number = float(value) if key == "severity" and NUMBER.fullmatch(value) else inf
        return natural.index(value) if value in natural else len(natural), number, value

    return sorted(values, key=place)
