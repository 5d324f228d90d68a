"""Differences from people on the questions that they answered, over the whole and in groups."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt

import polars as pl
import scipy

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.acceptance.figure import NOT_SHARED, EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.groups import exploded
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.engine.slices import in_order
from wardround.measuring.people.against_models import ASKED, COMPARED
from wardround.measuring.people.figures import PERSON, scored
from wardround.measuring.people.variance import PeopleMean, mean_over_people, numbered, student_interval


def people_figures(
    marks: pl.LazyFrame, study: Study, measure: str, where: Mapping[str, str], groups: Sequence[str], people: str
) -> FiguresBySlice:
    """Every model minus the people, by candidate and slice of groups, as comparisons.csv has it."""
    at_condition = scored(marks_at_reference(marks, study, where).filter(kind=COMPARED[measure]), study).collect()
    theirs = at_condition.filter(PERSON.is_not_null(), candidate=people)
    models = at_condition.filter(PERSON.is_null()).group_by("candidate", *ASKED).agg(of_model=pl.col("value").mean())
    values_by_key = {key: in_order(key, exploded(at_condition, key)[key].drop_nulls().unique()) for key in groups}
    figures: FiguresBySlice = {}
    for (name,), own in models.sort("candidate", *ASKED).group_by("candidate", maintain_order=True):
        both = theirs.join(own.drop("candidate"), on=ASKED, maintain_order="left")
        parts = {canonical_json({}): both}
        for key, values in values_by_key.items():
            by_value = exploded(both, key)
            parts |= {canonical_json({key: value}): by_value.filter(pl.col(key) == value) for value in values}
        figures[str(name)] = {slice: _figure(part) for slice, part in parts.items()}
    return figures


def _figure(both: pl.DataFrame) -> EndpointFigure:
    if both.is_empty():
        return EndpointFigure(method=NOT_SHARED)
    difference = mean_over_people(*numbered(both), (both["of_model"] - both["value"]).to_numpy())
    low, high, method = student_interval(difference, (-1.0, 1.0))
    n, clusters, method = len(both), difference.clusters, f"mean over {difference.who}; {method}"
    if low is None:
        return EndpointFigure(difference.mean, n=n, clusters=clusters, method=method)
    return EndpointFigure(
        *(difference.mean, low, high, n, clusters, method),
        p_above=partial(_p_above, difference, 1.0),
        p_below=partial(_p_above, difference, -1.0),
        spread=lambda boundary: sqrt(difference.variance * clusters),
    )


def _p_above(difference: PeopleMean, sign: float, boundary: float) -> float:
    """Student's one-sided p; with a sign of -1 that of a value that is not below the boundary."""
    distance = sign * (difference.mean - boundary) / sqrt(difference.variance)
    return float(scipy.special.stdtr(difference.freedom, -distance))
