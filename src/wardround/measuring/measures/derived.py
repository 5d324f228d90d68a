"""Figures made of other figures: means over stages and grades, and intra- and inter-model DKE.

Each is recomputed in every resample from the resampled values of its parts.
"""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.canonical import canonical_json
from wardround.measuring.comparing.originals import WORST_SEVERITY
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.estimate import Estimate
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import (
    BOOTSTRAP,
    FEW,
    FEWEST,
    NO_INTERVAL,
    SHARE_OF_RESAMPLES,
    STUDENT,
    TOO_FEW,
    WILSON,
    CellEstimates,
)
from wardround.measuring.engine.lines import MeasureLines
from wardround.measuring.engine.measure import Measure, MeasureKind, measure_name
from wardround.measuring.engine.resampling.bootstrap import RESAMPLES, SumBlock
from wardround.measuring.engine.resampling.estimates import PendingEstimates
from wardround.measuring.engine.resampling.percentiles import percentile_interval, percentile_intervals
from wardround.measuring.engine.slices import Slicing
from wardround.measuring.engine.sums import ClusterSums, Integers
from wardround.measuring.engine.wilson import mean_interval, student
from wardround.measuring.measures.dke import ALL_ORIGINALS, CandidateFigures, halved, inter_figures

COMPARABLE_COUNTS = range(3, 201)  # candidates for inter-model DKE: the cost grows with their pairs
PARTS = ("calibration_shift", "confidence")


NO_VALUES = np.full(RESAMPLES, np.nan)  # of estimates that are not resampled: never written to


@dataclass
class SliceEstimate:
    """One measure of one candidate in one slice, with what derived figures need of it."""

    value: float
    n: int
    unparsed: float
    refused: float
    clusters: NDArray[np.integer[Any]]
    drawn: Floats = field(default_factory=lambda: NO_VALUES)
    halves: Floats = field(default_factory=lambda: np.zeros((0, 2, 2)))  # splits x half x (part, whole)
    method: str = ""  # of its own interval


Slot = tuple[int, int, int]  # slicing, slice, candidate


class DerivedInputs:
    """Collects the estimates that derived figures are made of, while candidates are measured some at a time."""

    def __init__(
        self,
        slicings: list[Slicing],
        wanted: dict[int, set[str]],
        seed: int,
        clusters: int = 0,
        halved: Set[str] = frozenset(),
        keeps_parts: bool = False,
    ) -> None:
        self.slicings, self.wanted, self.seed, self.clusters, self.halved = slicings, wanted, seed, clusters, halved
        self.keeps_parts = keeps_parts  # for means over candidates: those over stages or grades are not taken
        self.estimates: dict[str, dict[Slot, SliceEstimate]] = {}
        self._cells: dict[int, tuple[Integers, Integers]] = {}

    @classmethod
    def for_table(
        cls, slicings: list[Slicing], measures: list[Measure], encoded: EncodedMarks, seed: int
    ) -> DerivedInputs:
        """The inputs of the derived figures in measures.csv."""
        is_comparable = len(encoded.candidates) in COMPARABLE_COUNTS
        parts = {"accuracy"} | {measure_name(part, source) for part in PARTS for source in _dke_sources(measures)}
        wanted: dict[int, set[str]] = {}
        for number, slicing in enumerate(slicings):
            wanted[number] = {m.name for m in measures if slicing.mean_over(m)}
            if not slicing.only_measures and (is_comparable or slicing.keys == ("severity",)):
                wanted[number] |= parts
        return cls(slicings, wanted, seed, encoded.cluster_count, parts if is_comparable else frozenset())

    def wants(self, measure: Measure, slicing: int) -> bool:
        return measure.name in self.wanted.get(slicing, ())

    def record(self, slicing: int, sums: ClusterSums, cell_estimates: list[CellEstimates]) -> None:
        """Stores the estimates of a slicing, before they are resampled."""
        self._cells[slicing] = sums.slice, sums.candidate
        lists_by_sum: dict[int, list[Integers]] = {}
        for estimate in cell_estimates:
            measure = estimate.measure
            if not self.wants(measure, slicing):
                continue
            by_slot = self.estimates.setdefault(measure.name, {})
            clusters_of_cell = _contributing_clusters(sums, measure.cluster_sum, lists_by_sum)
            for cell in np.flatnonzero(~np.isnan(estimate.value)).tolist():
                clusters = clusters_of_cell[cell]
                slot = slicing, int(sums.slice[cell]), int(sums.candidate[cell])
                value, n = float(estimate.value[cell]), int(estimate.n[cell])
                unparsed, refused = float(estimate.unparsed[cell]), float(estimate.refused[cell])
                method = str(estimate.method[cell])
                by_slot[slot] = SliceEstimate(value, n, unparsed, refused, clusters, method=method)

    def receive(self, pending: PendingEstimates, drawn: Floats, block: SumBlock) -> None:
        """Stores resampled values and, if candidates are compared, sums over halves of the clusters."""
        estimates, cells, sums, slicing = pending
        slices, candidates = self._cells[slicing]
        name = estimates.measure.name
        by_slot = self.estimates[name]
        chosen = [by_slot[slicing, int(slices[cell]), int(candidates[cell])] for cell in cells.tolist()]
        for estimate, values in zip(chosen, drawn.astype(np.float32), strict=True):
            estimate.drawn = values
        if name in self.halved and not self.slicings[slicing].only_measures:
            halves = [halved(block.cluster, block.sums[rows], self.clusters, self.seed) for rows in sums[:2]]
            for estimate, own in zip(chosen, np.stack(halves, axis=-1), strict=True):
                estimate.halves = own


def _contributing_clusters(sums: ClusterSums, name: str, known: dict[int, list[Integers]]) -> list[Integers]:
    """The clusters of every cell in which a sum is above zero; measures share the lists."""
    place = sums.place[name]
    if place not in known:
        entries = np.flatnonzero(sums.row(name) > 0)
        known[place] = np.split(sums.cluster[entries].astype(np.int32), np.searchsorted(entries, sums.ends[1:-1]))
    return known[place]


def add_means(inputs: DerivedInputs, measures: list[Measure], candidates: range, lines: MeasureLines) -> None:
    """Adds unweighted means over stages or grades (X-PCR's swa and esa), capabilities or categories.

    There is none if one of the values is missing. The estimates that they are made of are then dropped.
    """
    if inputs.keeps_parts:
        return
    for place, measure in enumerate(measures):
        by_slot = inputs.estimates.get(measure.name, {})
        present = sorted({slot[2] for slot in by_slot if slot[2] in candidates})
        for number, slicing in enumerate(inputs.slicings):
            key = slicing.mean_over(measure)
            if not key or not present:
                continue
            groups: dict[str, list[int]] = {}
            for place_in_slicing, name in enumerate(slicing.slices):
                groups.setdefault(canonical_json(json.loads(name) | {key: "mean"}), []).append(place_in_slicing)
            for new_number, (name, parts) in enumerate(groups.items(), len(slicing.slices)):
                lines.label(number, new_number, name)
                rows = [[by_slot.pop((number, part, candidate), None) for part in parts] for candidate in present]
                figures = _mean_figures(measure, rows)
                lines.add(place, number, np.full(len(present), new_number), np.array(present), **figures)


def _mean_figures(measure: Measure, rows: list[list[SliceEstimate | None]]) -> dict[str, np.ndarray]:
    """The mean of each row of estimates."""
    lines = [_line(float("nan"), 0, 0, None) for _ in rows]
    complete = [(row, [part for part in parts if part]) for row, parts in enumerate(rows) if None not in parts]
    drawn = np.array([np.mean([part.drawn for part in parts], axis=0) for _, parts in complete])
    ends = (*percentile_intervals(drawn), _variances(drawn)) if complete else ()
    for (row, parts), *interval, variance in zip(complete, *ends, strict=True):
        lines[row] = _mean_line(measure, parts, variance, interval)
    return {name: np.concatenate([line[name] for line in lines]) for name in lines[0]}


def _variances(drawn: Floats) -> Floats:
    """The variance of each row over the resamples that lack none of its parts; 0 without any."""
    if not np.isnan(drawn).any():
        variances: Floats = np.var(drawn, axis=1, dtype=np.float64)
        return variances
    known = [values[~np.isnan(values)] for values in drawn]
    return np.array([np.var(values, dtype=np.float64) if len(values) else 0.0 for values in known])


def _mean_line(
    measure: Measure, parts: list[SliceEstimate], variance: float, interval: list[float], *, is_extreme: bool = False
) -> dict[str, np.ndarray]:
    value, n = float(np.mean([part.value for part in parts])), sum(part.n for part in parts)
    clusters = _count_clusters(parts)
    shares = {name: sum(getattr(part, name) * part.n for part in parts) / n for name in ("unparsed", "refused")}
    if clusters < FEWEST:
        return _line(value, n, clusters, TOO_FEW, **shares)
    if clusters >= FEW and variance > 0 and not is_extreme:
        return _line(value, n, clusters, BOOTSTRAP, min(interval[0], value), max(interval[1], value), **shares)
    mean, n_clusters = np.array([value]), np.array([float(clusters)])
    unbiased = np.array([variance * clusters / (clusters - 1)])
    if measure.kind is MeasureKind.SIGNED:
        method, (low, high) = STUDENT, student(mean, n_clusters, unbiased, (-1.0, 1.0))
    else:
        method, (low, high) = WILSON, mean_interval(mean, unbiased, n_clusters)
    return _line(value, n, clusters, method, float(low[0]), float(high[0]), **shares)


def _count_clusters(parts: list[SliceEstimate]) -> int:
    """The number of clusters that contribute to any part."""
    clusters = np.concatenate([part.clusters for part in parts])
    contributes = np.zeros(int(clusters.max(initial=-1)) + 1, bool)
    contributes[clusters] = True
    return int(contributes.sum())


def mean_estimate(measure: Measure, parts: list[SliceEstimate]) -> Estimate:
    """The unweighted mean of estimates, with its interval from the resamples that they share.

    Rates that are all too rare for resampling have Wilson's, with the variance of the resamples. A composite measure of
    few clusters has none: neither Wilson's nor Student's interval is made for its mean.
    """
    drawn = np.mean([part.drawn for part in parts], axis=0)
    interval = [float(end[0]) for end in percentile_intervals(drawn[None])]
    is_extreme = all(part.method == WILSON for part in parts)
    line = _mean_line(measure, parts, float(_variances(drawn[None])[0]), interval, is_extreme=is_extreme)
    low, high = (None if np.isnan(line[end][0]) else float(line[end][0]) for end in ("low", "high"))
    n, clusters = int(line["n"][0]), int(line["clusters"][0])
    if not measure.kind.is_mean and line["method"][0] != BOOTSTRAP:
        return Estimate(n, float(line["value"][0]), None, None, clusters, NO_INTERVAL)
    return Estimate(n, float(line["value"][0]), low, high, clusters, str(line["method"][0]))


def add_dke(inputs: DerivedInputs, measures: list[Measure], candidates: int, lines: MeasureLines) -> None:
    """Adds both kinds of DKE, once all candidates are measured."""
    for place, measure in enumerate(measures):
        if measure.base == "dke_intra" and measure.variant == ALL_ORIGINALS:
            _add_dke_intra(inputs, measure.source, place, lines)
    for source in _dke_sources(measures):
        _add_dke_inter(inputs, measures, source, candidates, lines)


def _dke_sources(measures: list[Measure]) -> list[str]:
    return list(dict.fromkeys(measure.source for measure in measures if measure.base == "dke_inter"))


def _parts(inputs: DerivedInputs, source: str, *measures: str) -> list[dict[Slot, SliceEstimate]]:
    """The estimates of accuracy, then those of measures of confidence."""
    return [inputs.estimates.get(name, {}) for name in ("accuracy", *(measure_name(m, source) for m in measures))]


def _add_dke_intra(inputs: DerivedInputs, source: str, place: int, lines: MeasureLines) -> None:
    """Acc(L0) > Acc(L2) and shift(L0) <= shift(L2) over all records of each level, as in the paper."""
    number = next((n for n, slicing in enumerate(inputs.slicings) if slicing.keys == ("severity",)), None)
    parts = _parts(inputs, source, "calibration_shift")
    if number is None:
        return
    slices = inputs.slicings[number].slices
    levels = [canonical_json({"severity": level}) for level in (CLEAN_LEVEL, WORST_SEVERITY)]
    if not all(level in slices for level in levels):
        return
    for candidate in sorted({slot[2] for slot in parts[1]}):
        slots = [(number, slices.index(level), candidate) for level in levels]
        estimates = [part[slot] for part in parts for slot in slots if slot in part]
        if len(estimates) < len(parts) * len(slots):
            continue
        clean, degraded, clean_shift, degraded_shift = (estimate.drawn for estimate in estimates)
        clusters, n = min(len(estimate.clusters) for estimate in estimates), sum(e.n for e in estimates[2:])
        share = float(np.nanmean((clean > degraded) & (clean_shift <= degraded_shift)))
        enough = clusters >= FEWEST
        figures = _line(share if enough else float("nan"), n, clusters, SHARE_OF_RESAMPLES if enough else TOO_FEW)
        lines.add(place, 0, np.array([0]), np.array([candidate]), **figures)


def _add_dke_inter(
    inputs: DerivedInputs, measures: list[Measure], source: str, candidates: int, lines: MeasureLines
) -> None:
    """Over all pairs of candidates, in every slice in which at least three have the figures."""
    parts = _parts(inputs, source, *PARTS)
    places = {measure.name: place for place, measure in enumerate(measures)}
    for number, slice in sorted({slot[:2] for slot in parts[1] if not inputs.slicings[slot[0]].only_measures}):
        present = [c for c in range(candidates) if all((number, slice, c) in part for part in parts)]
        if len(present) not in COMPARABLE_COUNTS:
            continue
        chosen = [[part[number, slice, c] for c in present] for part in parts]
        clusters = min(len(estimate.clusters) for estimate in chosen[1])
        for variant, (value, drawn) in inter_figures(_candidate_figures(chosen), inputs.seed).items():
            low, high, method = float("nan"), float("nan"), NO_INTERVAL
            if clusters < FEWEST:
                method = TOO_FEW
            elif drawn is not None:
                (low, high), method = percentile_interval(drawn), BOOTSTRAP
            figures = _line(value, len(present) * (len(present) - 1) // 2, clusters, method, low, high)
            place = places[measure_name("dke_inter", variant, source)]
            lines.add(place, number, np.array([slice]), np.array([candidates]), **figures)


def _candidate_figures(parts: list[list[SliceEstimate]]) -> CandidateFigures:
    values = [np.array([estimate.value for estimate in part]) for part in parts]
    drawn = [np.array([estimate.drawn for estimate in part]).T for part in parts]
    halves = [np.stack([estimate.halves for estimate in part]) for part in parts[:2]]
    return CandidateFigures(*values, *drawn, *halves)


def _line(
    value: float,
    n: int,
    clusters: int,
    method: str | None,
    low: float = float("nan"),
    high: float = float("nan"),
    unparsed: float = float("nan"),
    refused: float = float("nan"),
) -> dict[str, np.ndarray]:
    figures = {"value": value, "low": low, "high": high, "n": n, "clusters": clusters}
    figures |= {"unparsed": unparsed, "refused": refused}
    columns = {name: np.array([figure]) for name, figure in figures.items()}
    return columns | {"method": np.array([method], dtype=object)}
