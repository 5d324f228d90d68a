"""Degradation deltas: every degraded record compared with its own L0, by the same candidate in the same trials."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.measuring.comparing.families import SEVERITY
from wardround.measuring.comparing.originals import originals
from wardround.measuring.comparing.pairing import SLOT, ComparisonSide, PairedSums, paired_items
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.slices import Slicing, degraded_slicings
from wardround.measuring.engine.sums import Integers, cluster_sums, place_items


class Delta(NamedTuple):
    """The records of one slice compared with their L0, or the mean over several slices (None: one is missing)."""

    severity: str
    slice: str
    paired: PairedSums | None
    unmatched: int  # degraded records whose L0 was not asked


def deltas(own: ComparisonSide, measures: list[Measure], trials: int, encoded: EncodedMarks) -> list[list[Delta]]:
    """Of one candidate, by measure: at every severity, over all records and by the keys of MedQ-Deg's tables."""
    if not (slicings := degraded_slicings(encoded)):
        return [[] for _ in measures]
    marks, items = own
    original = originals(items, encoded)
    degraded, clean = _sides(marks, items, original)
    unmatched = items.filter(pl.Series(original < 0) & pl.col("severity").is_not_null())
    by_measure = []
    for measure in measures:
        both = paired_items(degraded, clean, measure, trials, encoded)
        index = both.select(SLOT).join(degraded.items, on=SLOT, how="left", maintain_order="left")
        scores, counted = _scores(both, measure), unmatched.filter(pl.col(measure.required_sum) > 0)
        by_measure.append([delta for slicing in slicings for delta in _by_slice(slicing, index, scores, counted)])
    return by_measure


def _sides(marks: pl.DataFrame, items: pl.DataFrame, original: Integers) -> tuple[ComparisonSide, ComparisonSide]:
    """The degraded records that have an L0, and those L0, each under the names of its degraded record."""
    matched = np.flatnonzero(original >= 0)
    names = items.select("subject", "condition", matched="condition")[matched]
    own = items.select(clean_subject="subject", clean_condition="condition")[original[matched]]
    clean = items.drop("subject", "condition")[original[matched]].with_columns(names)
    answers = marks.rename({"subject": "clean_subject", "condition": "clean_condition"})
    answers = answers.join(own.with_columns(names), on=own.columns, how="inner").drop(own.columns)
    degraded_marks = marks.join(names, on=("subject", "condition"), how="inner")
    return ComparisonSide(degraded_marks, items[matched].with_columns(names)), ComparisonSide(answers, clean)


def _scores(both: pl.DataFrame, measure: Measure) -> dict[str, Floats]:
    """The score of each record and of its L0, and how many answers each represents."""
    scores = {"records": np.ones(len(both))}
    for side, end in (("a", ""), ("b", "_b")):
        part, whole = (both[f"{name}{end}"].to_numpy() for name in measure.sums[:2])
        scores |= {f"score_{side}": exact(part / whole), f"n_{side}": both[f"{measure.n}{end}"].to_numpy()}
    return scores


def _by_slice(
    slicing: Slicing, index: pl.DataFrame, scores: dict[str, Floats], unmatched: pl.DataFrame
) -> Iterator[Delta]:
    sums = cluster_sums(place_items(index, *slicing.assign(index)), scores)
    columns = np.column_stack([sums.row(name) for name in ("score_a", "records", "score_b", "records")])
    answers = np.minimum(sums.cell_total("n_a"), sums.cell_total("n_b"))
    cells = {int(number): cell for cell, number in enumerate(sums.slice)}
    lost = np.bincount(slicing.assign(unmatched)[1], minlength=len(slicing.slices)).tolist()
    means: dict[tuple[str, str], list[Delta]] = {}
    for number, name in enumerate(slicing.slices):
        keys = json.loads(name)
        severity = keys.pop(SEVERITY)
        paired = None
        if number in cells:
            cell = cells[number]
            span = slice(sums.ends[cell], sums.ends[cell + 1])
            paired = PairedSums(sums.cluster[span], columns[span], int(answers[cell]))
        delta = Delta(severity, canonical_json(keys), paired, lost[number])
        yield delta
        if slicing.mean_key:
            mean_slice = canonical_json(keys | {slicing.mean_key: "mean"})
            means.setdefault((severity, mean_slice), []).append(delta)
    for (severity, name), parts in means.items():
        yield Delta(severity, name, _mean([part.paired for part in parts]), sum(part.unmatched for part in parts))


def _mean(parts: list[PairedSums | None]) -> PairedSums | None:
    """The groups next to each other; None if one is missing."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    cluster = np.unique(np.concatenate([part.cluster for part in known]))
    sums = np.zeros((len(cluster), 4 * len(known)))
    for place, part in enumerate(known):
        sums[np.searchsorted(cluster, part.cluster), 4 * place : 4 * place + 4] = part.sums
    return PairedSums(cluster, sums, sum(part.n for part in known))
