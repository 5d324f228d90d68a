"""Figures that are tested against a number: those of measures.csv, with the p-values that their intervals imply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, inf, sqrt
from typing import Any

import numpy as np
import scipy

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.acceptance.figure import EndpointFigure, FiguresBySlice
from wardround.measuring.acceptance.groups import group_subjects
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.intervals import BOOTSTRAP, STUDENT
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.measurement import MeasureInputs, measure_candidates
from wardround.measuring.engine.slices import slicings
from wardround.measuring.engine.wilson import Z, student_quantile
from wardround.measuring.measures.derived import DerivedInputs


def measured_figures(
    encoded: EncodedMarks, study: Study, measure: Measure, where: Mapping[str, str], groups: Sequence[str]
) -> FiguresBySlice:
    """A measure of every candidate under a condition, over the whole and in each group, as measures.csv has it."""
    at_condition = study.model_copy(update={"reference": {**study.reference, **where}})
    wanted = [
        slicing
        for slicing in slicings(encoded, at_condition)
        if slicing.includes(measure) and (not slicing.keys or (len(slicing.keys) == 1 and slicing.keys[0] in groups))
    ]
    derived = DerivedInputs.for_table(wanted, [measure], encoded, study.seed)
    lines = measure_candidates(MeasureInputs(encoded, at_condition, [measure], derived))
    figures: FiguresBySlice = {}
    for line in lines.table([measure], wanted, encoded.candidates).iter_rows(named=True):
        slice = json.loads(line["slice"])
        if "mean" not in slice.values():
            figures.setdefault(line["candidate"], {})[canonical_json(slice)] = line_figure(line, measure.kind)
    sliced = {key for slicing in wanted for key in slicing.keys}
    unsliced = [key for key in groups if key not in sliced]  # a key whose one value all questions have is no slice
    for slice, _ in group_subjects(encoded, unsliced):
        for own in figures.values():
            own[slice] = own[canonical_json({})]
    return figures


def line_figure(line: Mapping[str, Any], kind: MeasureKind) -> EndpointFigure:
    """A line of measures.csv with the p-values that its interval implies."""
    value, low, high, clusters = (line[name] for name in ("value", "low", "high", "clusters"))
    method = line["method"] or ""
    fields: dict[str, Any] = {"n": line["n"], "clusters": clusters, "method": method}
    if value is None or low is None or high is None:
        return EndpointFigure(value, **fields)
    freedom = clusters - 1 if STUDENT in method else inf
    is_share = freedom == inf and kind in (MeasureKind.RATE, MeasureKind.MEAN)
    is_resampled = kind is MeasureKind.RATE and BOOTSTRAP in method
    tests = ImpliedTests(value, low, high, freedom, is_share, is_resampled)
    fields |= {"p_above": tests.p_above, "p_below": tests.p_below}
    return EndpointFigure(value, low, high, **fields, spread=lambda at: tests.standard_error(at) * sqrt(clusters))


@dataclass(frozen=True)
class ImpliedTests:
    """The one-sided tests whose boundaries at 2.5% are the ends of a 95% interval.

    Of a share it is the score test with the effective n of the end on the boundary's side, otherwise a test of the
    distance in standard errors; Student's if the interval is.

    The resampled interval of a rate near 0 or 1 ends too near to the rate on that end's other side: of candidates that
    are right in 95% of 200 cases it is above .95 in 5%. So its p is at least that of the score test with the effective
    n of the whole interval.
    """

    value: float
    low: float
    high: float
    freedom: float
    is_share: bool
    is_resampled: bool = False  # a rate

    def p_above(self, boundary: float) -> float:
        distance, error = self.value - boundary, self.standard_error(boundary)
        if error <= 0:
            return 0.0 if distance > 0 else 1.0
        if self.freedom == inf:
            return erfc(distance / error / sqrt(2)) / 2
        return float(scipy.special.stdtr(self.freedom, -distance / error))

    def p_below(self, boundary: float) -> float:
        return replace(self, value=-self.value, low=-self.high, high=-self.low).p_above(-boundary)

    def standard_error(self, boundary: float) -> float:
        end = self.low if boundary < self.value else self.high
        errors = Z if self.freedom == inf else float(student_quantile(np.array(self.freedom)))
        reach = abs(self.value - end) / errors
        if not self.is_share:
            return reach
        noise, noise_at_end = _noise(boundary), _noise(end)
        error = reach * sqrt(noise / noise_at_end) if noise_at_end > 0 else 0.0
        if self.is_resampled and _noise(self.value) > 0:
            error = max(error, (self.high - self.low) / (2 * Z) * sqrt(noise / _noise(self.value)))
        return error


def _noise(share: float) -> float:
    """The variance of one answer."""
    return max(abs(share) * (1 - abs(share)), 0.0)
