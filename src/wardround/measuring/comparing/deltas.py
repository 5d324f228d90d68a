"""Degradation deltas: every degraded record against its own L0, by the same candidate in the same trials."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.measuring.comparing.families import SEVERITY
from wardround.measuring.comparing.pairing import SLOT, Paired, Side, paired_items
from wardround.measuring.comparing.pairs import originals
from wardround.measuring.engine.encode import Coded
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import Slicing, degraded_slicings
from wardround.measuring.engine.sums import Whole, cluster_sums, placed


class Delta(NamedTuple):
    """The records of one slice against their L0, or the mean over several slices (None: one of them is missing)."""

    severity: str
    slice: str
    paired: Paired | None
    unmatched: int  # degraded records whose L0 was not asked


def deltas(
    marks: pl.DataFrame, each: pl.DataFrame, measures: list[Measure], trials: int, numbers: Coded
) -> list[list[Delta]]:
    """Of one candidate, by measure: at every severity, whole and by what MedQ-Deg's tables take it apart by."""
    if not (slicings := degraded_slicings(numbers)):
        return [[] for _ in measures]
    twin = originals(each, numbers)
    degraded, clean = _sides(marks, each, twin)
    lost = each.filter(pl.Series(twin < 0) & pl.col("severity").is_not_null())
    found = []
    for measure in measures:
        both = paired_items(degraded, clean, measure, trials, numbers)
        index = both.select(SLOT).join(degraded.items, on=SLOT, how="left", maintain_order="left")
        scores, unmatched = _scores(both, measure), lost.filter(pl.col(measure.needed) > 0)
        told = (_by_slice(slicing, index, scores, unmatched) for slicing in slicings)
        found.append([delta for each in told for delta in each])
    return found


def _sides(marks: pl.DataFrame, each: pl.DataFrame, twin: Whole) -> tuple[Side, Side]:
    """The degraded records that have an L0, and those L0, each named like the record that it is held against."""
    at = np.flatnonzero(twin >= 0)
    names = each.select("subject", "condition", matched="condition")[at]
    own = each.select(clean_subject="subject", clean_condition="condition")[twin[at]]
    clean = each.drop("subject", "condition")[twin[at]].with_columns(names)
    answers = marks.rename({"subject": "clean_subject", "condition": "clean_condition"})
    answers = answers.join(own.with_columns(names), on=own.columns, how="inner").drop(own.columns)
    return Side(marks.join(names, on=("subject", "condition"), how="inner"), each[at].with_columns(names)), Side(
        answers, clean
    )


def _scores(both: pl.DataFrame, measure: Measure) -> dict[str, Floats]:
    """Of each record its score and that of its L0, and how many answers each stands for."""
    found = {"records": np.ones(len(both))}
    for side, end in (("a", ""), ("b", "_b")):
        part, whole = (both[f"{name}{end}"].to_numpy() for name in measure.sums[:2])
        found |= {f"score_{side}": exact(part / whole), f"n_{side}": both[f"{measure.n}{end}"].to_numpy()}
    return found


def _by_slice(
    slicing: Slicing, index: pl.DataFrame, scores: dict[str, Floats], unmatched: pl.DataFrame
) -> Iterator[Delta]:
    at = placed(index, *slicing.of(index))
    sums = cluster_sums(at, scores)
    columns = np.column_stack([sums.row(name) for name in ("score_a", "records", "score_b", "records")])
    answers = np.minimum(sums.cell_total("n_a"), sums.cell_total("n_b"))
    cells = {int(number): cell for cell, number in enumerate(sums.slice)}
    lost = np.bincount(slicing.of(unmatched)[1], minlength=len(slicing.slices)).tolist()
    means: dict[tuple[str, str], list[Delta]] = {}
    for number, name in enumerate(slicing.slices):
        told = json.loads(name)
        severity = told.pop(SEVERITY)
        paired = None
        if number in cells:
            cell = cells[number]
            span = slice(sums.ends[cell], sums.ends[cell + 1])
            paired = Paired(sums.cluster[span], columns[span], int(answers[cell]))
        delta = Delta(severity, canonical_json(told), paired, lost[number])
        yield delta
        if slicing.averaged:
            over = canonical_json(told | {slicing.averaged: "mean"})
            means.setdefault((severity, over), []).append(delta)
    for (severity, name), parts in means.items():
        yield Delta(severity, name, _mean([part.paired for part in parts]), sum(part.unmatched for part in parts))


def _mean(parts: list[Paired | None]) -> Paired | None:
    """Groups side by side; none where one of them is missing."""
    there = [part for part in parts if part is not None]
    if len(there) < len(parts):
        return None
    cluster = np.unique(np.concatenate([part.cluster for part in there]))
    sums = np.zeros((len(cluster), 4 * len(there)))
    for place, part in enumerate(there):
        sums[np.searchsorted(cluster, part.cluster), 4 * place : 4 * place + 4] = part.sums
    return Paired(cluster, sums, sum(part.n for part in there))
