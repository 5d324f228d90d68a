"""Differences from another candidate on the same questions and trials, over the whole and in groups."""

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.core.study_tables.endpoint import Endpoint
from wardround.measuring.acceptance.figure import ALPHA, NOT_SHARED, EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.groups import group_subjects
from wardround.measuring.acceptance.score_test import ClusterMeans
from wardround.measuring.comparing.pairing import (
    ComparisonSide,
    PairedSums,
    items_by_candidate,
    pair_sides,
    side_of,
    tested_differences,
)
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.intervals import FEWEST, TOO_FEW
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import conditions_at

METHOD = "score and sign-flip"


def paired_figures(
    encoded: EncodedMarks, study: Study, measure: Measure, endpoint: Endpoint, against: str
) -> FiguresBySlice:
    """Every candidate minus `against` under the endpoint's condition, by candidate and slice of groups."""
    conditions = dict.fromkeys(conditions_at(encoded, study.reference_condition | endpoint.where), 0)
    sides = {
        name: side_of(own, conditions) for name, own in items_by_candidate(encoded, [measure], study.trials).items()
    }
    if against not in sides:
        return {}
    subjects = {canonical_json({}): None, **dict(group_subjects(encoded, endpoint.groups))}
    figures: FiguresBySlice = {}
    for name in (name for name in sides if name != against):
        for slice, members in subjects.items():
            ours, theirs = (_within(sides[side], members) for side in (name, against))
            asked = any((side.items[measure.required_sum] > 0).any() for side in (ours, theirs))
            paired = pair_sides(ours, theirs, measure, study.trials, encoded)
            tested = encoded.cluster_count, endpoint.margin
            figure = paired_figure(paired, measure, study.seed, *tested) if asked else EndpointFigure()
            figures.setdefault(name, {})[slice] = figure
    return figures


def paired_figure(paired: PairedSums, measure: Measure, seed: int, all_clusters: int, margin: float) -> EndpointFigure:
    """A paired difference of means with its tests: without a margin, value, interval and p of comparisons.csv."""
    clusters = len(paired.cluster)
    if not clusters:
        return EndpointFigure(method=NOT_SHARED)
    sizes = (paired.sums[:, 1] + paired.sums[:, len(measure.sums) + 1]) / 2
    differences = ClusterMeans(paired.differences(measure) / sizes, sizes, (-1.0, 1.0), seed)
    if clusters < FEWEST:
        return EndpointFigure(differences.mean, n=paired.n, clusters=clusters, method=TOO_FEW)
    if not margin:
        (row,) = tested_differences([paired], measure, all_clusters, seed)
        above = row["p"] / 2 if row["value"] > 0 else 1 - row["p"] / 2
        return EndpointFigure(
            *(row["value"], row["low"], row["high"], paired.n, clusters, row["method"]),
            *(lambda boundary: above, lambda boundary: 1 - above),
            spread=lambda boundary: float(np.sqrt(differences.variance(boundary))),
        )
    low, high = differences.interval(ALPHA)
    return EndpointFigure(
        *(differences.mean, low, high, paired.n, clusters, METHOD, differences.p_above, differences.p_below),
        spread=lambda boundary: float(np.sqrt(differences.variance(boundary))),
    )


def _within(side: ComparisonSide, subjects: pl.Series | None) -> ComparisonSide:
    if subjects is None:
        return side
    return ComparisonSide(*(table.filter(pl.col("subject").is_in(subjects.implode())) for table in side))
