"""Means over candidates: of their figures, and of their paired changes, resampled over the same clusters.

Every candidate weighs the same, as in the papers' "Avg." rows. The candidates answered the same cases, so they share
the resamples: a mean is recomputed in each from the resampled figures of all of them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.comparing.comparisons import declared_comparisons
from wardround.measuring.comparing.pairing import PairedSums, tested_differences
from wardround.measuring.engine.encode import EncodedMarks, encode_marks
from wardround.measuring.engine.estimate import Estimate
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import MeasureInputs, measure_candidates, measures_for_marks
from wardround.measuring.engine.slices import Slicing, slicings
from wardround.measuring.measures.derived import DerivedInputs, SliceEstimate, mean_estimate

Key = TypeVar("Key")


class FigureSlot(NamedTuple):
    """A line of measures.csv: the measure, its slice as JSON, and the candidate."""

    measure: str
    slice: str
    candidate: str


class ChangeSlot(NamedTuple):
    """A line of comparisons.csv: the measure, what is compared, and the slice as JSON, candidate included."""

    measure: str
    a: str
    b: str
    slice: str


@dataclass(frozen=True)
class CandidateMeans:
    """The marks of a run, from which means over candidates are made."""

    encoded: EncodedMarks
    study: Study

    @classmethod
    def from_marks(cls, marks: pl.DataFrame | pl.LazyFrame, study: Study) -> "CandidateMeans":
        return cls(encode_marks(marks, study), study)

    def of_figures(self, requests: Mapping[Key, Sequence[FigureSlot]]) -> dict[Key, Estimate]:
        """The mean of the figures of each request, which are of one measure.

        Left out are requests that lack a figure, and measures of a kind whose mean cannot be resampled: a percentile
        bootstrap of a biased distance, such as ECE, excludes the truth.
        """
        known_measures = measures_for_marks(self.encoded, self.study)
        measures = {m.name: m for m in known_measures if m.kind.is_resampled_in_means and not m.products}
        requests = {key: slots for key, slots in requests.items() if all(slot.measure in measures for slot in slots)}
        wanted = {(slot.measure, slot.slice) for slots in requests.values() for slot in slots}
        known = slicings(self.encoded, self.study)
        places = _places(wanted, known, measures)
        used = sorted({place.slicing for place in places.values()})
        chosen = [known[number] for number in used]
        names = {
            number: {measure for (measure, _), place in places.items() if place.slicing == slicing}
            for number, slicing in enumerate(used)
        }
        own = [m for m in measures.values() if any(m.name in wanted for wanted in names.values())]
        derived = DerivedInputs(chosen, names, self.study.seed, self.encoded.cluster_count, keeps_parts=True)
        measure_candidates(MeasureInputs(self.encoded, self.study, own, derived))
        numbers = {name: number for number, name in enumerate(self.encoded.candidates)}
        means = {}
        for key, slots in requests.items():
            parts: list[SliceEstimate | None] = []
            for slot in slots:
                place = places.get((slot.measure, slot.slice))
                by_slot = derived.estimates.get(slot.measure, {})
                number = numbers.get(slot.candidate)
                parts += (
                    [None]
                    if place is None or number is None
                    else [by_slot.get((used.index(place.slicing), part, number)) for part in place.parts]
                )
            if parts and None not in parts:
                present = [part for part in parts if part is not None]
                means[key] = mean_estimate(measures[slots[0].measure], present)
        return means

    def of_changes(self, requests: Mapping[Key, Sequence[ChangeSlot]]) -> dict[Key, Estimate]:
        """The mean of the paired changes of each request; one that lacks a change is left out."""
        paired: dict[ChangeSlot, tuple[Measure, PairedSums]] = {}
        for _, measure, comparisons in declared_comparisons(self.encoded, self.study):
            for comparison in comparisons:
                if comparison.paired is not None and len(comparison.paired.cluster):
                    slot = ChangeSlot(measure.name, comparison.a, comparison.b, comparison.slice)
                    paired.setdefault(slot, (measure, comparison.paired))
        means = {}
        for key, slots in requests.items():
            sides = [(_reversed(slot), -1) if _reversed(slot) in paired else (slot, 1) for slot in slots]
            if not slots or not all(slot in paired for slot, _ in sides) or len({sign for _, sign in sides}) > 1:
                continue
            measure, sign = paired[sides[0][0]][0], sides[0][1]
            joined = _joined([paired[slot][1] for slot, _ in sides], 2 * len(measure.sums))
            (row,) = tested_differences([joined], measure, self.encoded.cluster_count, self.study.seed)
            ends = [None if row[end] is None else sign * row[end] for end in ("low", "high")]
            low, high = ends if sign > 0 else reversed(ends)
            means[key] = Estimate(joined.n, sign * row["value"], low, high, row["clusters"], row["method"])
        return means


@dataclass(frozen=True)
class _SlicePlace:
    """Where a slice is: its slicing and its parts, by number; several if it is the unweighted mean over a key."""

    slicing: int
    parts: tuple[int, ...]


def _places(
    wanted: Iterable[tuple[str, str]], known: list[Slicing], measures: Mapping[str, Measure]
) -> dict[tuple[str, str], _SlicePlace]:
    places = {}
    for measure, slice in wanted:
        keys = json.loads(slice)
        mean_key = next((key for key, value in keys.items() if value == "mean"), "")
        for number, slicing in enumerate(known):
            if not slicing.includes(measures[measure]):
                continue
            if mean_key and slicing.mean_over(measures[measure]) != mean_key:
                continue
            parts = [n for n, name in enumerate(slicing.slices) if _is_part(name, slice, mean_key)]
            if parts:
                places[measure, slice] = _SlicePlace(number, tuple(parts))
                break
    return places


def _is_part(name: str, slice: str, mean_key: str) -> bool:
    return name == slice if not mean_key else canonical_json(json.loads(name) | {mean_key: "mean"}) == slice


def _reversed(slot: ChangeSlot) -> ChangeSlot:
    return slot._replace(a=slot.b, b=slot.a)


def _joined(parts: list[PairedSums], width: int) -> PairedSums:
    """The candidates as groups next to each other, which weigh the same.

    A candidate that is itself a mean over groups has several; all have the same number.
    """
    cluster = np.unique(np.concatenate([part.cluster for part in parts]))
    columns = [part.sums.shape[1] for part in parts]
    assert len(set(columns)) == 1
    assert columns[0] % width == 0
    sums = np.zeros((len(cluster), sum(columns)))
    for place, part in enumerate(parts):
        start = place * columns[0]
        sums[np.searchsorted(cluster, part.cluster), start : start + columns[0]] = part.sums
    return PairedSums(cluster, sums, sum(part.n for part in parts))
