"""Gaps between groups: the worst group, and its distance from the best, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.engine.bootstrap import percentile_interval
from wardround.measuring.engine.encode import EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measurement import MeasureInputs, measure_candidates, measures_for_marks
from wardround.measuring.engine.slices import SliceMembers, Slicing, slicings
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.derived import DerivedInputs, SliceEstimate

PEOPLE = ("age_band", "sex", "modality", "tag")
GAPS = table_schema(  # noise: the gap that chance alone gives between groups that are alike
    *("key", "candidate", "groups", "worst", "worst_value", "worst_low", "worst_high", "best", "best_value"),
    *("gap", "gap_low", "gap_high", "noise", "clusters"),
)


def subgroup_gaps(
    marks: pl.DataFrame | pl.LazyFrame, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy"
) -> pl.DataFrame:
    """Worst group, best group and the gap between them, by key and candidate.

    A gap between the largest and the smallest of several figures is never below zero and grows with noise:
    `noise` is its mean in resamples of groups moved to the same value. Groups of fewer than 8 clusters are
    left out. Each tag is compared with the cases without it.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=GAPS)
    encoded = encode_marks(marks, study)
    measures = [m for m in measures_for_marks(encoded, study) if m.name == measure]
    chosen = _chosen_slicings(encoded, study, keys)
    if not chosen:
        return pl.DataFrame(schema=GAPS)
    wanted = {number: {measure} for number in range(len(chosen))}
    derived = DerivedInputs(chosen, wanted, study.seed)
    inputs = MeasureInputs(encoded, study, measures, derived)
    lines = measure_candidates(inputs).table(measures, chosen, encoded.candidates)
    columns = lines.select("candidate", "slice", "low", "high")
    intervals = {(candidate, slice): (low, high) for candidate, slice, low, high in columns.iter_rows()}
    rows, by_slot = [], derived.estimates.get(measure, {})
    for number, slicing in enumerate(chosen):
        for candidate_index, candidate in enumerate(encoded.candidates):
            slots = {group: (number, group, candidate_index) for group in range(len(slicing.slices))}
            groups = {group: by_slot[slot] for group, slot in slots.items() if slot in by_slot}
            groups = {group: estimate for group, estimate in groups.items() if len(estimate.clusters) >= FEWEST}
            if len(groups) > 1:
                gap = _gap(groups, slicing)
                low, high = intervals[candidate, gap["worst"]]
                rows.append(
                    {"key": slicing.keys[0], "candidate": candidate, **gap, "worst_low": low, "worst_high": high}
                )
    return pl.DataFrame(rows, schema=GAPS)


def prompt_sensitivity(marks: pl.DataFrame | pl.LazyFrame, study: Study, measure: str = "accuracy") -> pl.DataFrame:
    """The same over the prompts of a study: how far a measure depends on the wording."""
    return subgroup_gaps(marks, study, ("prompt",), measure)


def _gap(groups: dict[int, SliceEstimate], slicing: Slicing) -> dict[str, Any]:
    values = {group: estimate.value for group, estimate in groups.items()}
    worst, best = min(values, key=lambda group: values[group]), max(values, key=lambda group: values[group])
    drawn = np.array([estimate.drawn for estimate in groups.values()], np.float64)
    low, high = percentile_interval(drawn.max(axis=0) - drawn.min(axis=0))
    alike = drawn - np.array(list(values.values()))[:, None]
    return {
        "groups": len(groups),
        "worst": slicing.slices[worst],
        "worst_value": values[worst],
        "best": slicing.slices[best],
        "best_value": values[best],
        "gap": values[best] - values[worst],
        "gap_low": low,
        "gap_high": high,
        "noise": float(np.nanmean(alike.max(axis=0) - alike.min(axis=0))),
        "clusters": len(np.unique(np.concatenate([estimate.clusters for estimate in groups.values()]))),
    }


def _chosen_slicings(encoded: EncodedMarks, study: Study, keys: Sequence[str]) -> list[Slicing]:
    by_keys = {slicing.keys: slicing for slicing in slicings(encoded, study) if not slicing.only_measures}
    chosen = [by_keys[(key,)] for key in keys if key != "tag" and (key,) in by_keys]
    return chosen + (_tags(encoded) if "tag" in keys else [])


def _tags(encoded: EncodedMarks) -> list[Slicing]:
    """Cases with and without each tag."""
    tags = encoded.subjects["tag"]
    chosen = []
    for tag in sorted(tags.explode().drop_nulls().unique()):
        inside = tags.list.contains(tag).fill_null(False)
        if inside.all():
            continue
        frame = encoded.subjects.select("subject", slice=pl.when(inside).then(0).otherwise(1).cast(pl.UInt32))
        slices = [canonical_json({"tag": tag}), canonical_json({"tag": f"not {tag}"})]
        chosen.append(Slicing(("tag",), slices, (SliceMembers("subject", frame, 2),)))
    return chosen
