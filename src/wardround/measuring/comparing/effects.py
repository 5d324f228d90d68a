"""Effects of crossed axes: main effects and two-way interactions."""

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.comparing.pairing import (
    ComparisonSide,
    PairedSums,
    applies,
    items_by_candidate,
    tested_differences,
)
from wardround.measuring.engine.encode import EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import measures_for_marks
from wardround.measuring.engine.tables import table_schema

MEASURED = ("accuracy", "hit@1", "confidence", "calibration_shift")
EFFECTS = table_schema(  # the columns with_ are those of an interaction, empty for a main effect
    *("measure", "candidate", "axis", "value", "reference", "with_axis", "with_value", "with_reference"),
    *("effect", "low", "high", "p", "p_adjusted", "n", "clusters", "cells", "method", "version"),
    **dict.fromkeys(("axis", "value", "reference", "with_axis", "with_value", "with_reference"), pl.String),
)
Axes = dict[str, list[str]]


class AxisChange(NamedTuple):
    """An axis moved from its reference to another value."""

    axis: str
    value: str
    reference: str


class AxisContrast(NamedTuple):
    """One change, or two at once, as `times` the mean of differences between pairs of conditions.

    The effect of a change is the mean of its differences over all cells of the other axes, equally weighted.
    An interaction is the change of that effect under the second change: twice the mean of the differences
    under the second's value and, with the opposite sign, under its reference.
    """

    changes: tuple[AxisChange, ...]
    pairs: list[tuple[int, int]]

    @property
    def times(self) -> int:
        return len(self.changes)


class CandidateContrast(NamedTuple):
    """A contrast for one candidate, with its paired sums."""

    candidate: str
    contrast: AxisContrast
    paired: PairedSums


def effects(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of effects.csv, for studies that cross two axes or more: main effects, then interactions of two.

    Paired: only questions that were answered in every cell of a contrast count.
    """
    if len(study.varied_axes) < 2 or is_empty(marks):
        return pl.DataFrame(schema=EFFECTS)
    encoded = encode_marks(marks, study)
    measures = [
        measure for measure in measures_for_marks(encoded, study) if measure.base in MEASURED and is_paired(measure)
    ]
    by_candidate = items_by_candidate(encoded, measures, study.trials)
    rows: list[dict[str, Any]] = []
    for measure in measures:
        if not applies(measure, by_candidate):
            continue
        candidate_contrasts = [
            CandidateContrast(name, contrast, paired)
            for name, own in by_candidate.items()
            for contrast in axis_contrasts(*_crossed(own, encoded, study), study.reference_condition)
            if (paired := _paired(own, contrast, measure)) is not None
        ]
        rows += _figures(candidate_contrasts, measure, encoded.cluster_count, study.seed)
    return pl.DataFrame(rows, schema=EFFECTS)


def axis_contrasts(
    axes: Axes, conditions: dict[int, dict[str, str]], reference: Mapping[str, str]
) -> list[AxisContrast]:
    """Every change of one axis from its reference, then every two changes of different axes."""
    place = {tuple(condition[axis] for axis in axes): number for number, condition in conditions.items()}

    def cells(fixed: dict[str, str]) -> list[int]:
        """The conditions with these values, in an order that does not depend on the values."""
        return [place[values] for values in product(*([fixed[axis]] if axis in fixed else axes[axis] for axis in axes))]

    changes = [
        AxisChange(axis, value, origin)
        for axis, values in axes.items()
        for origin in [reference[axis] if reference[axis] in values else values[0]]
        for value in values
        if value != origin
    ]
    contrasts = []
    for change in changes:
        pairs = zip(cells({change.axis: change.value}), cells({change.axis: change.reference}), strict=True)
        contrasts.append(AxisContrast((change,), [*pairs]))
    for one, two in combinations(changes, 2):
        if one.axis != two.axis:
            under, without = (
                (
                    cells({one.axis: one.value, two.axis: value}),
                    cells({one.axis: one.reference, two.axis: value}),
                )
                for value in (two.value, two.reference)
            )
            contrasts.append(
                AxisContrast((one, two), [*zip(*under, strict=True), *zip(*reversed(without), strict=True)])
            )
    return contrasts


def _crossed(own: ComparisonSide, encoded: EncodedMarks, study: Study) -> tuple[Axes, dict[int, dict[str, str]]]:
    """The axes on which this candidate was asked two values or more, and the conditions by number.

    There are none if a combination of values was not asked.
    """
    asked = {number: encoded.conditions[number] for number in own.items["condition"].unique().sort().to_list()}
    axes = {
        axis: values
        for axis in study.varied_axes
        if len(values := [v for v in study.conditions[axis] if any(axes[axis] == v for axes in asked.values())]) > 1
    }
    combinations_asked = {tuple(values[axis] for axis in axes) for values in asked.values()}
    return (axes if len(combinations_asked) == np.prod([len(values) for values in axes.values()]) else {}), asked


def _paired(own: ComparisonSide, contrast: AxisContrast, measure: Measure) -> PairedSums | None:
    """Per cluster the sums of both conditions of every pair, over the questions that all conditions have."""
    conditions = sorted({number for pair in contrast.pairs for number in pair})
    is_complete = pl.col("whole") | (pl.col("shared") > 0)
    items = own.items.filter(pl.col("condition").is_in(conditions) & is_complete & (pl.col(measure.sums[1]) > 0))
    items = items.filter(pl.col("condition").n_unique().over("subject") == len(conditions))
    if items.is_empty():
        return None
    sums = list(measure.sums)
    totals = items.group_by("cluster", "condition").agg(pl.col(dict.fromkeys([*sums, measure.n])).sum())
    totals = totals.sort("cluster", "condition")
    cluster = totals["cluster"].unique(maintain_order=True).cast(pl.Int64).to_numpy()
    cube = totals.select(sums).to_numpy().astype(np.float64).reshape(len(cluster), len(conditions), len(sums))
    place = {number: index for index, number in enumerate(conditions)}
    columns = [cube[:, place[number]] for pair in contrast.pairs for number in pair]
    n = int(totals.group_by("condition").agg(pl.col(measure.n).sum())[measure.n].min())  # type: ignore[arg-type]
    return PairedSums(cluster, np.ascontiguousarray(np.concatenate(columns, axis=1)), n)


def _figures(
    candidate_contrasts: list[CandidateContrast], measure: Measure, clusters: int, seed: int
) -> list[dict[str, Any]]:
    """The effects on one measure: resampled and tested together, adjusted for all of them."""
    rows = []
    tested = tested_differences([paired for _, _, paired in candidate_contrasts], measure, clusters, seed)
    for (name, contrast, _), figures in zip(candidate_contrasts, tested, strict=True):
        effect, low, high = (
            None if figures[end] is None else contrast.times * figures[end] for end in ("value", "low", "high")
        )
        axes = contrast.changes[0]._asdict()
        if len(contrast.changes) > 1:
            axes |= {f"with_{key}": value for key, value in contrast.changes[1]._asdict().items()}
        names = {"measure": measure.name, "candidate": name, "version": measure.version}
        cells = len({number for pair in contrast.pairs for number in pair})
        rows.append(figures | names | axes | {"effect": effect, "low": low, "high": high, "cells": cells})
    return rows
