"""Effects of crossed axes: what each changes by itself, and what two change together beyond that."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.comparing.families import is_paired
from wardround.measuring.comparing.pairing import Own, Paired, applies, difference, items_by_candidate
from wardround.measuring.comparing.signflip import FLIPS, Tested, sign_flip
from wardround.measuring.engine.bootstrap import Part, percentile_interval, resampled_sums
from wardround.measuring.engine.encode import Coded, coded, is_empty
from wardround.measuring.engine.intervals import BOOTSTRAP, FEWEST, TOO_FEW
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import defined_for

MEASURED = ("accuracy", "hit@1", "confidence", "calibration_shift")
EFFECTS: dict[str, Any] = {
    "measure": pl.String,
    "candidate": pl.String,
    "axis": pl.String,
    "value": pl.String,  # against `reference`
    "reference": pl.String,
    "with_axis": pl.String,  # of an interaction: empty for a main effect
    "with_value": pl.String,
    "with_reference": pl.String,
    "effect": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
    "cells": pl.Int64,
    "method": pl.String,
    "version": pl.String,
}
Axes = dict[str, list[str]]


class Change(NamedTuple):
    """An axis moved from its reference, which is its first value in the study, to another value."""

    axis: str
    value: str
    reference: str


class Contrast(NamedTuple):
    """One change, or two at once; and pairs of conditions whose differences it is the mean of, so many `times`.

    The effect of a change is the mean of its differences over all cells of the other axes, each weighing the same.
    An interaction is by how much that effect itself changes under the second: twice the mean of the differences
    under the second's value and, with the sign turned, under its reference.
    """

    changes: tuple[Change, ...]
    pairs: list[tuple[int, int]]

    @property
    def times(self) -> int:
        return len(self.changes)


class Found(NamedTuple):
    candidate: str
    contrast: Contrast
    paired: Paired


def effects(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of effects.csv, for studies that cross two axes or more: main effects, then interactions of two.

    Paired: only questions that were answered in every cell of a contrast count.
    """
    if len(study.varied_axes) < 2 or is_empty(marks):
        return pl.DataFrame(schema=EFFECTS)
    numbers = coded(marks, study)
    defined = [measure for measure in defined_for(numbers, study) if measure.name in MEASURED and is_paired(measure)]
    by_candidate = items_by_candidate(numbers, defined, study.trials)
    rows: list[dict[str, Any]] = []
    for measure in defined:
        if not applies(measure, by_candidate):
            continue
        found = [
            Found(name, contrast, paired)
            for name, own in by_candidate.items()
            for contrast in contrasts(*_crossed(own, numbers, study))
            if (paired := _paired(own, contrast, measure)) is not None
        ]
        rows += _figures(found, measure, numbers.size, study.seed)
    return pl.DataFrame(rows, schema=EFFECTS)


def contrasts(axes: Axes, conditions: dict[int, dict[str, str]]) -> list[Contrast]:
    """Every change of one axis, then every two changes of different axes."""
    place = {tuple(condition[axis] for axis in axes): number for number, condition in conditions.items()}

    def cells(told: dict[str, str]) -> list[int]:
        """The conditions with these values, in an order that is the same whatever the values."""
        return [place[values] for values in product(*([told[axis]] if axis in told else axes[axis] for axis in axes))]

    changes = [Change(axis, value, values[0]) for axis, values in axes.items() for value in values[1:]]
    found = []
    for change in changes:
        pairs = zip(cells({change.axis: change.value}), cells({change.axis: change.reference}), strict=True)
        found.append(Contrast((change,), [*pairs]))
    for one, two in combinations(changes, 2):
        if one.axis != two.axis:
            under, without = (
                (
                    cells({one.axis: one.value, two.axis: value}),
                    cells({one.axis: one.reference, two.axis: value}),
                )
                for value in (two.value, two.reference)
            )
            found.append(Contrast((one, two), [*zip(*under, strict=True), *zip(*reversed(without), strict=True)]))
    return found


def _crossed(own: Own, numbers: Coded, study: Study) -> tuple[Axes, dict[int, dict[str, str]]]:
    """The axes on which this candidate was asked two values or more, and the conditions by number.

    There are none where a combination of values was not asked.
    """
    asked = {number: numbers.conditions[number] for number in own[1]["condition"].unique().sort().to_list()}
    axes = {
        axis: values
        for axis in study.varied_axes
        if len(values := [v for v in study.conditions[axis] if any(each[axis] == v for each in asked.values())]) > 1
    }
    every = {tuple(each[axis] for axis in axes) for each in asked.values()}
    return (axes if len(every) == np.prod([len(values) for values in axes.values()]) else {}), asked


def _paired(own: Own, contrast: Contrast, measure: Measure) -> Paired | None:
    """Per cluster the sums of every pair's two conditions, over the questions that all of the conditions have."""
    conditions = sorted({number for pair in contrast.pairs for number in pair})
    of = measure.sums[1]
    there = own[1].filter(
        pl.col("condition").is_in(conditions) & (pl.col("whole") | (pl.col("shared") > 0)) & (pl.col(of) > 0)
    )
    there = there.filter(pl.col("condition").n_unique().over("subject") == len(conditions))
    if there.is_empty():
        return None
    sums = list(measure.sums)
    added = there.group_by("cluster", "condition").agg(pl.col(dict.fromkeys([*sums, measure.n])).sum())
    added = added.sort("cluster", "condition")
    cluster = added["cluster"].unique(maintain_order=True).cast(pl.Int64).to_numpy()
    cube = added.select(sums).to_numpy().astype(np.float64).reshape(len(cluster), len(conditions), len(sums))
    place = {number: at for at, number in enumerate(conditions)}
    side_by_side = [cube[:, place[number]] for pair in contrast.pairs for number in pair]
    n = int(added.group_by("condition").agg(pl.col(measure.n).sum())[measure.n].min())  # type: ignore[arg-type]
    return Paired(cluster, np.ascontiguousarray(np.concatenate(side_by_side, axis=1)), n)


def _figures(found: list[Found], measure: Measure, clusters: int, seed: int) -> list[dict[str, Any]]:
    """The effects on one measure: resampled and tested together, adjusted for all of them."""
    if not found:
        return []
    matrix = np.zeros((clusters, len(found)))
    for place, (_, _, paired) in enumerate(found):
        matrix[paired.cluster, place] = paired.differences(measure)
    tested = sign_flip(matrix, seed)
    parts = [Part(paired.cluster, paired.sums.T) for _, _, paired in found]
    rows: list[dict[str, Any]] = [{}] * len(found)
    for place, drawn in resampled_sums(parts, clusters, seed):
        values = found[place].contrast.times * difference(measure, drawn.all().T)
        enough = len(found[place].paired.cluster) >= FEWEST
        rows[place] = _row(found[place], measure, tested, place) | {
            "low": (ends := percentile_interval(values))[0] if enough else None,
            "high": ends[1] if enough else None,
        }
    return rows


def _row(found: Found, measure: Measure, tested: Tested, place: int) -> dict[str, Any]:
    name, contrast, paired = found
    enough = len(paired.cluster) >= FEWEST
    flips = "all flips" if tested.exact[place] else f"{FLIPS} flips"
    named = {"axis": contrast.changes[0].axis} | contrast.changes[0]._asdict()
    if len(contrast.changes) > 1:
        named |= {f"with_{key}": value for key, value in contrast.changes[1]._asdict().items()}
    return {
        "measure": measure.name,
        "candidate": name,
        **named,
        "effect": contrast.times * float(difference(measure, paired.sums.sum(axis=0, keepdims=True))[0]),
        "p": float(tested.p[place]),
        "p_adjusted": float(tested.p_adjusted[place]),
        "n": paired.n,
        "clusters": len(paired.cluster),
        "cells": len({number for pair in contrast.pairs for number in pair}),
        "method": f"sign-flip ({flips}), {BOOTSTRAP if enough else TOO_FEW}",
        "version": measure.version,
    }
