"""The marks of the reference condition, at which all scores are taken."""

import json
from collections.abc import Collection, Iterable, Mapping

import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.study import Study


def marks_at_reference(
    marks: pl.LazyFrame,
    study: Study,
    changed: Mapping[str, str] | None = None,
    *,
    over: str | None = None,
    over_axes: Collection[str] = (),
) -> pl.LazyFrame:
    """The marks of the reference condition, with some axes changed and all values of the axis `over`, or of several.

    Lazy: only the names of the conditions are read.
    """
    reference = {axis: value for axis, value in study.reference_condition.items() if axis not in (over, *over_axes)}
    values = (reference | dict(changed or {})).items()
    names = marks.select(pl.col("condition").unique().sort()).collect()["condition"]
    chosen = [name for name in names if values <= (DEFAULTS | json.loads(name)).items()]
    return marks if len(chosen) == len(names) else marks.filter(pl.col("condition").is_in(chosen))


def are_at_reference(conditions: Iterable[Mapping[str, str]], study: Study) -> bool:
    """Whether these conditions, of which every axis is named, are the reference condition."""
    return all(study.reference_condition.items() <= condition.items() for condition in conditions)
