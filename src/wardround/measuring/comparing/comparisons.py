"""Paired comparisons: differences with intervals, tests and adjustment within their family."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Family, Study
from wardround.marking.slice_values import CLEAN
from wardround.measuring.comparing.deltas import deltas
from wardround.measuring.comparing.families import MOST_PAIRED, SEVERITY, compared_values, families, is_paired, pairs
from wardround.measuring.comparing.pairing import (
    Own,
    Paired,
    Side,
    applies,
    difference,
    items_by_candidate,
    pair,
    side,
)
from wardround.measuring.comparing.signflip import FLIPS, Tested, sign_flip
from wardround.measuring.engine.bootstrap import Part, percentile_interval, resampled_sums
from wardround.measuring.engine.encode import Coded, coded
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import BOOTSTRAP, FEWEST, TOO_FEW
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import defined_for
from wardround.measuring.engine.tables import COMPARISONS


@dataclass(frozen=True)
class Comparison:
    """Two sides and what they share; None where one has no marks."""

    a: str
    b: str
    slice: str
    paired: Paired | None
    unmatched: int = 0  # degraded records whose L0 was not asked


def compare(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of comparisons.csv: family by family, as the study declares them."""
    declared = families(study)
    if marks.lazy().head(1).collect().is_empty():
        return pl.DataFrame(schema=COMPARISONS)
    numbers = coded(marks, study)
    if not study.comparisons and len(numbers.candidates) < 2:
        return pl.DataFrame(schema=COMPARISONS)
    defined = [measure for measure in defined_for(numbers, study) if is_paired(measure)]
    wanted = {family.measure for family in declared.values()}
    by_candidate = items_by_candidate(numbers, [measure for measure in defined if measure.name in wanted], study.trials)
    rows: list[dict[str, Any]] = []
    for name, family in declared.items():
        versions = [m for m in defined if m.name == family.measure and applies(m, by_candidate)]
        compared = (_changes if family.between == SEVERITY else _contrasts)(
            family, versions, numbers, by_candidate, study
        )
        for measure, comparisons in zip(versions, compared, strict=True):
            label = f"{name} ({measure.version})" if len(versions) > 1 else name
            rows += _compared(label, measure, comparisons, numbers, study)
    if not study.comparisons and len(numbers.candidates) > MOST_PAIRED:
        rows = _with_the_best(rows)
    return pl.DataFrame(rows, schema=COMPARISONS)


def _contrasts(
    family: Family, versions: list[Measure], numbers: Coded, by_candidate: dict[str, Own], study: Study
) -> list[list[Comparison]]:
    """Candidates with each other, or the values of an axis within each candidate; by measure."""
    values, people = (
        compared_values(family, study),
        {each.name for each in study.candidates if each.provider == "people"},
    )
    sides: list[tuple[str, dict[str, Side]]] = []
    if family.between == "candidate":
        values = values + [name for name in numbers.candidates if name not in values]
        every = {number: number for number in range(len(numbers.conditions))}
        sides.append(("{}", {name: side(*by_candidate[name], every) for name in values if name in by_candidate}))
    else:
        matched = {value: _matched(numbers, family.between, value) for value in values}
        for name, own in by_candidate.items():
            there = {value: side(*own, conditions) for value, conditions in matched.items()}
            sides.append((canonical_json({"candidate": name}), there))

    def paired(measure: Measure, a: Side | None, b: Side | None) -> Paired | None:
        return None if a is None or b is None else pair(a, b, measure, study.trials, numbers)

    return [
        [
            Comparison(a, b, slice, paired(measure, there.get(a), there.get(b)))
            for slice, there in sides
            for a, b in pairs(values, family.reference)
            if not people & {a, b}  # these have a family of their own
        ]
        for measure in versions
    ]


def _changes(
    family: Family, versions: list[Measure], numbers: Coded, by_candidate: dict[str, Own], study: Study
) -> list[list[Comparison]]:
    """Degraded records with their own L0, within each candidate; by measure."""
    found: list[list[Comparison]] = [[] for _ in versions]
    for name, own in by_candidate.items():
        for comparisons, told in zip(found, deltas(*own, versions, study.trials, numbers), strict=True):
            for severity, slice, paired, unmatched in told:
                where = canonical_json({**json.loads(slice), "candidate": name})
                comparisons.append(Comparison(severity, CLEAN, where, paired, unmatched))
    return found


def _matched(numbers: Coded, axis: str, value: str) -> dict[int, int]:
    """The conditions with this value, by a number that is the same for conditions alike on the other axes."""
    others = [canonical_json({**condition, axis: ""}) for condition in numbers.conditions]
    place = {other: number for number, other in enumerate(dict.fromkeys(others))}
    return {
        number: place[others[number]] for number, condition in enumerate(numbers.conditions) if condition[axis] == value
    }


def _compared(
    family: str, measure: Measure, comparisons: list[Comparison], numbers: Coded, study: Study
) -> list[dict[str, Any]]:
    """One family: paired, resampled and tested together."""
    there = [each.paired for each in comparisons if each.paired is not None and len(each.paired.cluster)]
    if not there:
        return [_row(family, measure, each) for each in comparisons]
    tested = sign_flip(_side_by_side(there, measure, numbers.size), study.seed)
    parts = [Part(paired.cluster, paired.sums.T) for paired in there]
    drawn = dict(resampled_sums(parts, numbers.size, study.seed))
    rows, place = [], 0
    for each in comparisons:
        row = _row(family, measure, each)
        if each.paired is not None and len(each.paired.cluster):
            figures = _figures(measure, each.paired, drawn[place].all(), tested, place)
            row |= figures | {"method": "; ".join(filter(None, (figures["method"], row["method"])))}
            place += 1
        rows.append(row)
    return rows


def _side_by_side(there: list[Paired], measure: Measure, clusters: int) -> Floats:
    """Clusters x comparisons; a cluster that a comparison lacks adds nothing to it."""
    matrix = np.zeros((clusters, len(there)))
    for place, paired in enumerate(there):
        matrix[paired.cluster, place] = paired.differences(measure)
    return matrix


def _row(family: str, measure: Measure, each: Comparison) -> dict[str, Any]:
    told = {"measure": measure.name, "a": each.a, "b": each.b, "slice": each.slice, "family": family}
    unmatched = f"{each.unmatched} records without their {CLEAN}" if each.unmatched else None
    return dict.fromkeys(COMPARISONS) | told | {"n": 0, "clusters": 0, "method": unmatched}


def _figures(measure: Measure, paired: Paired, drawn: Floats, tested: Tested, place: int) -> dict[str, Any]:
    flips = "all flips" if tested.exact[place] else f"{FLIPS} flips"
    enough = len(paired.cluster) >= FEWEST
    low, high = percentile_interval(difference(measure, drawn.T)) if enough else (None, None)
    return {
        "value": float(difference(measure, paired.sums.sum(axis=0, keepdims=True))[0]),
        "low": low,
        "high": high,
        "p": float(tested.p[place]),
        "p_adjusted": float(tested.p_adjusted[place]),
        "n": paired.n,
        "clusters": len(paired.cluster),
        "method": f"sign-flip ({flips}), {BOOTSTRAP if enough else TOO_FEW}",
    }


def _with_the_best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of very many pairs only those of the candidate that wins most; they stay adjusted for all of them."""
    wins = Counter(row["a"] if row["value"] >= 0 else row["b"] for row in rows if row["value"] is not None)
    best = wins.most_common(1)
    return [row for row in rows if best and best[0][0] in (row["a"], row["b"])]
