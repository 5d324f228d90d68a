"""Differences from another candidate on the same questions and trials, over the whole and in groups."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.acceptance.figure import ALPHA, NOT_SHARED, EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.groups import group_subjects
from wardround.measuring.acceptance.score_test import ClusterMeans
from wardround.measuring.comparing.pairing import ComparisonSide, PairedSums, items_by_candidate, pair_sides, side_of
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.intervals import FEWEST, TOO_FEW
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import conditions_at

METHOD = "score and sign-flip"


def paired_figures(
    encoded: EncodedMarks, study: Study, measure: Measure, where: Mapping[str, str], groups: Sequence[str], against: str
) -> FiguresBySlice:
    """Every candidate minus `against` under a condition, by candidate and slice of groups."""
    conditions = dict.fromkeys(conditions_at(encoded, study.reference_condition | dict(where)), 0)
    sides = {
        name: side_of(own, conditions) for name, own in items_by_candidate(encoded, [measure], study.trials).items()
    }
    if against not in sides:
        return {}
    subjects = {canonical_json({}): None, **dict(group_subjects(encoded, groups))}
    figures: FiguresBySlice = {}
    for name in (name for name in sides if name != against):
        for slice, members in subjects.items():
            ours, theirs = (_within(sides[side], members) for side in (name, against))
            asked = any((side.items[measure.required_sum] > 0).any() for side in (ours, theirs))
            paired = pair_sides(ours, theirs, measure, study.trials, encoded)
            figure = paired_figure(paired, measure, study.seed) if asked else EndpointFigure()
            figures.setdefault(name, {})[slice] = figure
    return figures


def paired_figure(paired: PairedSums, measure: Measure, seed: int) -> EndpointFigure:
    """A paired difference of means with its tests."""
    clusters = len(paired.cluster)
    if not clusters:
        return EndpointFigure(method=NOT_SHARED)
    sizes = (paired.sums[:, 1] + paired.sums[:, len(measure.sums) + 1]) / 2
    differences = ClusterMeans(paired.differences(measure) / sizes, sizes, (-1.0, 1.0), seed)
    if clusters < FEWEST:
        return EndpointFigure(differences.mean, n=paired.n, clusters=clusters, method=TOO_FEW)
    low, high = differences.interval(ALPHA)
    return EndpointFigure(
        *(differences.mean, low, high, paired.n, clusters, METHOD, differences.p_above, differences.p_below),
        spread=lambda boundary: float(np.sqrt(differences.variance(boundary))),
    )


def _within(side: ComparisonSide, subjects: pl.Series | None) -> ComparisonSide:
    if subjects is None:
        return side
    return ComparisonSide(*(table.filter(pl.col("subject").is_in(subjects.implode())) for table in side))
