"""Gaps between groups: who fares worst, and by how much, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.engine.bootstrap import percentile_interval
from wardround.measuring.engine.encode import Coded, coded, is_empty
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.measurement import Sitting, defined_for, measured
from wardround.measuring.engine.slices import Members, Slicing, slicings
from wardround.measuring.measures.derived import Joining, Piece

PEOPLE = ("age_band", "sex", "modality", "tag")
GAPS: dict[str, Any] = {
    "key": pl.String,
    "candidate": pl.String,
    "groups": pl.Int64,
    "worst": pl.String,
    "worst_value": pl.Float64,
    "worst_low": pl.Float64,
    "worst_high": pl.Float64,
    "best": pl.String,
    "best_value": pl.Float64,
    "gap": pl.Float64,
    "gap_low": pl.Float64,
    "gap_high": pl.Float64,
    "noise": pl.Float64,  # the gap that chance alone gives between groups that are alike
    "clusters": pl.Int64,
}


def subgroup_gaps(
    marks: pl.DataFrame | pl.LazyFrame, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy"
) -> pl.DataFrame:
    """Worst group, best group and the gap between them, by key and candidate.

    A gap between the largest and the smallest of several figures is never below zero and grows with noise:
    `noise` is its mean in resamples of groups moved to the same figure. Groups of fewer than 8 clusters are
    left out. Each tag is held against the cases without it.
    """
    return _gaps(marks, study, keys, measure)


def prompt_sensitivity(marks: pl.DataFrame | pl.LazyFrame, study: Study, measure: str = "accuracy") -> pl.DataFrame:
    """The same over the prompts that a study asked by: how far a figure depends on the wording."""
    return _gaps(marks, study, ("prompt",), measure)


def _gaps(marks: pl.DataFrame | pl.LazyFrame, study: Study, keys: Sequence[str], name: str) -> pl.DataFrame:
    if is_empty(marks):
        return pl.DataFrame(schema=GAPS)
    numbers = coded(marks, study)
    defined = [m for m in defined_for(numbers, study) if m.name == name and not m.beside]
    chosen = _chosen(numbers, study, keys)
    if not chosen:
        return pl.DataFrame(schema=GAPS)
    wanted = {number: {(m.name, m.version) for m in defined} for number in range(len(chosen))}
    joining = Joining(chosen, wanted, study.seed)
    lines = measured(Sitting(numbers, study, defined, joining)).table(defined, chosen, numbers.candidates)
    ends = {
        (version or "", candidate, slice): (low, high)
        for version, candidate, slice, low, high in lines.select(
            "version", "candidate", "slice", "low", "high"
        ).iter_rows()
    }
    rows = []
    for (_, version), pieces in joining.pieces.items():
        for number, slicing in enumerate(chosen):
            for whom, candidate in enumerate(numbers.candidates):
                found = {
                    at: pieces[number, at, whom] for at in range(len(slicing.slices)) if (number, at, whom) in pieces
                }
                found = {at: piece for at, piece in found.items() if len(piece.clusters) >= FEWEST}
                if len(found) > 1:
                    told = _gap(found, slicing)
                    low, high = ends[version, candidate, told["worst"]]
                    rows.append(
                        {"key": slicing.keys[0], "candidate": candidate, **told, "worst_low": low, "worst_high": high}
                    )
    return pl.DataFrame(rows, schema=GAPS)


def _gap(found: dict[int, Piece], slicing: Slicing) -> dict[str, Any]:
    values = {at: piece.value for at, piece in found.items()}
    worst, best = min(values, key=lambda at: values[at]), max(values, key=lambda at: values[at])
    drawn = np.array([piece.drawn for piece in found.values()], np.float64)
    low, high = percentile_interval(drawn.max(axis=0) - drawn.min(axis=0))
    alike = drawn - np.array(list(values.values()))[:, None]
    return {
        "groups": len(found),
        "worst": slicing.slices[worst],
        "worst_value": values[worst],
        "best": slicing.slices[best],
        "best_value": values[best],
        "gap": values[best] - values[worst],
        "gap_low": low,
        "gap_high": high,
        "noise": float(np.nanmean(alike.max(axis=0) - alike.min(axis=0))),
        "clusters": len(np.unique(np.concatenate([piece.clusters for piece in found.values()]))),
    }


def _chosen(numbers: Coded, study: Study, keys: Sequence[str]) -> list[Slicing]:
    every = {slicing.keys: slicing for slicing in slicings(numbers, study) if not slicing.only}
    found = [every[(key,)] for key in keys if key != "tag" and (key,) in every]
    return found + (_tags(numbers) if "tag" in keys else [])


def _tags(numbers: Coded) -> list[Slicing]:
    """With and without each tag."""
    tags = numbers.subjects["tag"]
    found = []
    for tag in sorted(tags.explode().drop_nulls().unique()):
        inside = tags.list.contains(tag).fill_null(False)
        if inside.all():
            continue
        frame = numbers.subjects.select("subject", slice=pl.when(inside).then(0).otherwise(1).cast(pl.UInt32))
        slices = [canonical_json({"tag": tag}), canonical_json({"tag": f"not {tag}"})]
        found.append(Slicing(("tag",), slices, (Members("subject", frame, 2),)))
    return found
