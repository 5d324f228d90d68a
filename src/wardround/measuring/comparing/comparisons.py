"""Paired comparisons: differences with intervals, tests and adjustment within their family."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.canonical import canonical_json
from wardround.core.study import Family, Study
from wardround.measuring.comparing.deltas import deltas
from wardround.measuring.comparing.families import (
    SEVERITY,
    compared_values,
    families,
    is_meant,
    is_paired,
    pairs,
)
from wardround.measuring.comparing.pairing import (
    ComparisonSide,
    PairedSums,
    SidesByCandidate,
    applies,
    at_conditions,
    items_by_candidate,
    pair_sides,
    side_of,
    tested_differences,
)
from wardround.measuring.engine.encode import EncodedMarks, Marks, encode_marks, is_empty
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import measures_for_marks
from wardround.measuring.engine.slices import DEGRADATION, conditions_at
from wardround.measuring.engine.tables import COMPARISONS
from wardround.running.progress import NO_PROGRESS, StepProgress


@dataclass(frozen=True)
class Comparison:
    """Two sides and the sums over what they share; None if one has no marks."""

    a: str
    b: str
    slice: str
    paired: PairedSums | None
    unmatched: int = 0  # degraded records whose L0 was not asked


def compare(marks: Marks, study: Study, progress: StepProgress = NO_PROGRESS) -> pl.DataFrame:
    """The table of comparisons.csv: family by family, as the study declares them."""
    if is_empty(marks):
        families(study)  # a mistake in them is said even so
        return pl.DataFrame(schema=COMPARISONS)
    encoded = encode_marks(marks, study)
    if not study.comparisons and len(encoded.candidates) < 2:
        return pl.DataFrame(schema=COMPARISONS)
    rows: list[dict[str, Any]] = []
    for label, measure, comparisons in declared_comparisons(encoded, study, progress):
        rows += _family_rows(label, measure, comparisons, encoded, study)
    return pl.DataFrame(rows, schema=COMPARISONS)


def declared_comparisons(
    encoded: EncodedMarks, study: Study, progress: StepProgress = NO_PROGRESS
) -> Iterator[tuple[str, Measure, list[Comparison]]]:
    """The comparisons of each family and measure, with the sums that both sides share; the label names the family."""
    declared = families(study)
    measures = [measure for measure in measures_for_marks(encoded, study) if is_paired(measure)]
    compared = [m for m in measures if any(is_meant(m, family) for family in declared.values())]
    by_candidate = items_by_candidate(encoded, compared, study.trials)
    for name, family in progress.watch("comparing", declared.items(), len(declared)):
        variants = [m for m in compared if is_meant(m, family) and applies(m, by_candidate)]
        make = _degradation_comparisons if family.between == SEVERITY else _value_comparisons
        by_variant = make(family, variants, encoded, by_candidate, study)
        for measure, comparisons in zip(variants, by_variant, strict=True):
            is_variant = len(variants) > 1 and measure.name != family.measure
            yield (f"{name} ({measure.name})" if is_variant else name), measure, comparisons


def _value_comparisons(
    family: Family, variants: list[Measure], encoded: EncodedMarks, by_candidate: SidesByCandidate, study: Study
) -> list[list[Comparison]]:
    """Candidates with each other, or the values of an axis within each candidate; by measure."""
    values, slice = compared_values(family, study), canonical_json(family.where)
    people = {candidate.name for candidate in study.candidates if candidate.provider == "people"}
    sides: list[tuple[str, dict[str, ComparisonSide]]] = []
    if family.between == "candidate":
        values = values + [name for name in encoded.candidates if name not in values]
        conditions = _conditions(encoded, study, family)
        sides.append(
            (slice, {name: side_of(by_candidate[name], conditions) for name in values if name in by_candidate})
        )
    else:
        matched = {value: _conditions(encoded, study, family, {family.between: value}) for value in values}
        for name, own in by_candidate.items():
            by_value = {value: side_of(own, conditions) for value, conditions in matched.items()}
            sides.append((canonical_json({"candidate": name, **family.where}), by_value))

    def paired(measure: Measure, a: ComparisonSide | None, b: ComparisonSide | None) -> PairedSums | None:
        return None if a is None or b is None else pair_sides(a, b, measure, study.trials, encoded)

    return [
        [
            Comparison(a, b, slice, paired(measure, by_value.get(a), by_value.get(b)))
            for slice, by_value in sides
            for a, b in pairs(values, family.reference)
            if not people & {a, b}  # people have their own family
        ]
        for measure in variants
    ]


def _degradation_comparisons(
    family: Family, variants: list[Measure], encoded: EncodedMarks, by_candidate: SidesByCandidate, study: Study
) -> list[list[Comparison]]:
    """Degraded records with their own L0, within each candidate; by measure."""
    by_variant: list[list[Comparison]] = [[] for _ in variants]
    fixed = {axis: value for axis, value in study.reference_condition.items() if axis != DEGRADATION}
    conditions = conditions_at(encoded, fixed | family.where)
    for name, own in by_candidate.items():
        own = at_conditions(own, conditions)
        for comparisons, changes in zip(by_variant, deltas(own, variants, study.trials, encoded), strict=True):
            for severity, slice, paired, unmatched in changes:
                name_and_slice = canonical_json({**json.loads(slice), "candidate": name, **family.where})
                comparisons.append(Comparison(severity, CLEAN_LEVEL, name_and_slice, paired, unmatched))
    return by_variant


def _conditions(
    encoded: EncodedMarks, study: Study, family: Family, changed: Mapping[str, str] | None = None
) -> dict[int, int]:
    """The conditions that a family compares, of which there is one: all are paired by the same number."""
    values = study.reference_condition | family.where | dict(changed or {})
    return dict.fromkeys(conditions_at(encoded, values), 0)


def _family_rows(
    family: str, measure: Measure, comparisons: list[Comparison], encoded: EncodedMarks, study: Study
) -> list[dict[str, Any]]:
    """One family: paired, resampled and tested together."""
    known = [c.paired for c in comparisons if c.paired is not None and len(c.paired.cluster)]
    tested = iter(tested_differences(known, measure, encoded.cluster_count, study.seed))
    rows = []
    for comparison in comparisons:
        row = _row(family, measure, comparison)
        if comparison.paired is not None and len(comparison.paired.cluster):
            figures = next(tested)
            row |= figures | {"method": "; ".join(filter(None, (figures["method"], row["method"])))}
        rows.append(row)
    return rows


def _row(family: str, measure: Measure, comparison: Comparison) -> dict[str, Any]:
    names = {"measure": measure.name, "a": comparison.a, "b": comparison.b, "slice": comparison.slice, "family": family}
    unmatched = f"{comparison.unmatched} records without their {CLEAN_LEVEL}" if comparison.unmatched else None
    return dict.fromkeys(COMPARISONS) | names | {"n": 0, "clusters": 0, "method": unmatched}
