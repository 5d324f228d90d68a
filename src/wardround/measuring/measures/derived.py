"""Figures made of other figures: means over stages and grades, and intra- and inter-model DKE.

Each is recomputed in every resample from the resampled values of what it is made of.
"""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field

import numpy as np

from wardround.core.canonical import canonical_json
from wardround.marking.slice_values import CLEAN
from wardround.measuring.comparing.pairs import WORN
from wardround.measuring.engine.bootstrap import RESAMPLES, Part, percentile_interval, percentile_intervals
from wardround.measuring.engine.encode import Coded
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.halves import halved
from wardround.measuring.engine.intervals import (
    BOOTSTRAP,
    FEW,
    FEWEST,
    HOLDS,
    NO_INTERVAL,
    STUDENT,
    TOO_FEW,
    WILSON,
    Figures,
)
from wardround.measuring.engine.lines import Lines
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.slices import Slicing
from wardround.measuring.engine.sums import ClusterSums, Whole, distinct
from wardround.measuring.engine.wilson import effective_n, student, wilson
from wardround.measuring.measures.dke import Rivals, inter_figures

RIVALS = range(3, 201)  # candidates whose pairs are worth counting; of more it would take longer than all else
PARTS = ("accuracy", "calibration_shift", "confidence")


@dataclass
class Piece:
    """One figure of one candidate in one slice, with what others need of it."""

    value: float
    n: int
    unparsed: float
    clusters: Whole
    drawn: Floats = field(default_factory=lambda: np.full(RESAMPLES, np.nan))
    halves: Floats = field(default_factory=lambda: np.zeros((0, 2, 2)))  # splits x half x (part, whole)


Slot = tuple[int, int, int]  # slicing, slice, candidate


class Joining:
    """Collects the pieces while candidates are measured, some at a time."""

    def __init__(
        self,
        slicings: list[Slicing],
        wanted: dict[int, set[tuple[str, str]]],
        seed: int,
        clusters: int = 0,
        halved: Set[tuple[str, str]] = frozenset(),
    ) -> None:
        self.slicings, self.wanted, self.seed, self.clusters, self.halved = slicings, wanted, seed, clusters, halved
        self.pieces: dict[tuple[str, str], dict[Slot, Piece]] = {}
        self._cells: dict[int, tuple[Whole, Whole]] = {}

    @classmethod
    def of_table(cls, slicings: list[Slicing], defined: list[Measure], numbers: Coded, seed: int) -> Joining:
        """What measures.csv needs."""
        rivals = len(numbers.candidates) in RIVALS
        versions = {m.version for m in defined if m.name == "dke_inter"}
        parts = {(m.name, m.version) for m in defined if m.name == "accuracy"}
        ways = {(m.name, m.version) for m in defined if m.name in PARTS and m.version in versions}
        wanted: dict[int, set[tuple[str, str]]] = {}
        for number, slicing in enumerate(slicings):
            chosen = {(m.name, m.version) for m in defined if slicing.mean_over(m)}
            if not slicing.only and (rivals or slicing.keys == ("severity",)):
                chosen |= parts | ways
            wanted[number] = chosen
        return cls(slicings, wanted, seed, numbers.size, parts | ways if rivals else frozenset())

    def wants(self, measure: Measure, slicing: int) -> bool:
        return (measure.name, measure.version) in self.wanted.get(slicing, ())

    def note(self, slicing: int, sums: ClusterSums, found: list[Figures]) -> None:
        """Takes the figures of a slicing, before they are resampled."""
        self._cells[slicing] = sums.slice, sums.candidate
        for each in found:
            if not self.wants(each.measure, slicing):
                continue
            pieces = self.pieces.setdefault((each.measure.name, each.measure.version), {})
            counted = sums.row(each.measure.counted) > 0
            for cell in np.flatnonzero(~np.isnan(each.value)).tolist():
                span = slice(sums.ends[cell], sums.ends[cell + 1])
                there = sums.cluster[span]
                slot = slicing, int(sums.slice[cell]), int(sums.candidate[cell])
                told = float(each.value[cell]), int(each.n[cell]), float(each.unparsed[cell])
                pieces[slot] = Piece(*told, there[counted[span]].astype(np.int32))

    def take(self, figures: Figures, slicing: int, cells: Whole, drawn: Floats, part: Part, sums: list[Whole]) -> None:
        """Takes resampled values; and, where candidates are held against each other, sums of halves of the clusters."""
        slices, candidates = self._cells[slicing]
        pieces = self.pieces[figures.measure.name, figures.measure.version]
        kept = [pieces[slicing, int(slices[cell]), int(candidates[cell])] for cell in cells.tolist()]
        for piece, values in zip(kept, drawn.astype(np.float32), strict=True):
            piece.drawn = values
        if (figures.measure.name, figures.measure.version) in self.halved and not self.slicings[slicing].only:
            halves = [halved(part.cluster, part.sums[at], self.clusters, self.seed) for at in sums[:2]]
            for piece, own in zip(kept, np.stack(halves, axis=-1), strict=True):
                piece.halves = own


def join_means(joining: Joining, defined: list[Measure], whom: range, lines: Lines) -> None:
    """Adds some candidates' unweighted means over stages or grades (X-PCR's swa and esa), capabilities or categories.

    There is none where one of the values is missing. What they were made of is then forgotten.
    """
    for place, measure in enumerate(defined):
        pieces = joining.pieces.get((measure.name, measure.version), {})
        candidates = sorted({slot[2] for slot in pieces if slot[2] in whom})
        for number, slicing in enumerate(joining.slicings):
            key = slicing.mean_over(measure)
            if not key or not candidates:
                continue
            groups: dict[str, list[int]] = {}
            for at, name in enumerate(slicing.slices):
                groups.setdefault(canonical_json(json.loads(name) | {key: "mean"}), []).append(at)
            for beyond, (name, parts) in enumerate(groups.items(), len(slicing.slices)):
                lines.label(number, beyond, name)
                found = [[pieces.pop((number, at, each), None) for at in parts] for each in candidates]
                told = _mean_figures(measure, found)
                lines.add(place, number, np.full(len(candidates), beyond), np.array(candidates), **told)


def _mean_figures(measure: Measure, found: list[list[Piece | None]]) -> dict[str, np.ndarray]:
    """The mean of each row of pieces."""
    lines = [_line(float("nan"), 0, 0, None) for _ in found]
    whole = [(row, [piece for piece in pieces if piece]) for row, pieces in enumerate(found) if None not in pieces]
    drawn = np.array([np.mean([piece.drawn for piece in pieces], axis=0) for _, pieces in whole])
    ends = percentile_intervals(drawn) if whole else ()
    for (row, pieces), values, *between in zip(whole, drawn, *ends, strict=True):
        lines[row] = _mean_of(measure, pieces, values, between)
    return {name: np.concatenate([line[name] for line in lines]) for name in lines[0]}


def _mean_of(measure: Measure, pieces: list[Piece], drawn: Floats, ends: list[float]) -> dict[str, np.ndarray]:
    value, n = float(np.mean([piece.value for piece in pieces])), sum(piece.n for piece in pieces)
    clusters = len(distinct(np.concatenate([piece.clusters for piece in pieces]))[0])
    unparsed = sum(piece.unparsed * piece.n for piece in pieces) / n
    if clusters >= FEW:
        return _line(value, n, clusters, BOOTSTRAP, ends[0], ends[1], unparsed)
    if clusters < FEWEST:
        return _line(value, n, clusters, TOO_FEW, unparsed=unparsed)
    share, many, of = (np.array([float(each)]) for each in (value, n, clusters))
    variance = np.nan_to_num(np.nanvar(drawn, keepdims=True))
    if measure.kind is Kind.SIGNED:
        method, (low, high) = STUDENT, student(share, of, variance, (-1.0, 1.0))
    else:
        method, (low, high) = WILSON, wilson(share, effective_n(share, many, of, variance))
    return _line(value, n, clusters, method, float(low[0]), float(high[0]), unparsed)


def join(joining: Joining, defined: list[Measure], candidates: int, lines: Lines) -> None:
    """Adds both kinds of DKE, once all candidates are measured."""
    for place, measure in enumerate(defined):
        if measure.kind is Kind.JOINED and measure.name == "dke_intra":
            _dke_intra(joining, defined, measure, place, lines)
    ways = dict.fromkeys(m.version.rpartition(", ")[2] for m in defined if m.name == "dke_inter")
    for way in ways:
        _dke_inter(joining, defined, way, candidates, lines)


def _dke_intra(joining: Joining, defined: list[Measure], measure: Measure, place: int, lines: Lines) -> None:
    """Acc(L0) > Acc(L2) and shift(L0) <= shift(L2) over all records of each level, as the paper has it."""
    way = measure.version.rpartition(", ")[2]
    number = next((n for n, slicing in enumerate(joining.slicings) if slicing.keys == ("severity",)), None)
    accuracy = next(((m.name, m.version) for m in defined if m.name == "accuracy"), ("accuracy", ""))
    parts = [joining.pieces.get(key, {}) for key in (accuracy, ("calibration_shift", way))]
    if number is None:
        return
    names = joining.slicings[number].slices
    levels = [canonical_json({"severity": level}) for level in (CLEAN, WORN)]
    if not all(level in names for level in levels):
        return
    for whom in sorted({slot[2] for slot in parts[1]}):
        found = [part.get((number, names.index(level), whom)) for part in parts for level in levels]
        pieces = [piece for piece in found if piece is not None]
        if len(pieces) < len(found):
            continue
        clean, worn, clean_shift, worn_shift = (piece.drawn for piece in pieces)
        clusters = min(len(piece.clusters) for piece in pieces)
        holds = float(np.nanmean((clean > worn) & (clean_shift <= worn_shift)))
        enough = clusters >= FEWEST
        told = _line(
            holds if enough else float("nan"), sum(p.n for p in pieces[2:]), clusters, HOLDS if enough else TOO_FEW
        )
        lines.add(place, 0, np.array([0]), np.array([whom]), **told)


def _dke_inter(joining: Joining, defined: list[Measure], way: str, candidates: int, lines: Lines) -> None:
    """Over all pairs of candidates, in every slice in which at least three have the figures."""
    accuracy = next(((m.name, m.version) for m in defined if m.name == "accuracy"), ("accuracy", ""))
    parts = [joining.pieces.get(key, {}) for key in (accuracy, ("calibration_shift", way), ("confidence", way))]
    places = {m.version: place for place, m in enumerate(defined) if m.name == "dke_inter"}
    for number, at in sorted({slot[:2] for slot in parts[1] if not joining.slicings[slot[0]].only}):
        whom = [c for c in range(candidates) if all((number, at, c) in part for part in parts)]
        if len(whom) not in RIVALS:
            continue
        chosen = [[part[number, at, c] for c in whom] for part in parts]
        clusters = min(len(piece.clusters) for piece in chosen[1])
        for name, (value, drawn) in inter_figures(_rivals(chosen), joining.seed).items():
            low, high, method = float("nan"), float("nan"), NO_INTERVAL
            if clusters < FEWEST:
                method = TOO_FEW
            elif drawn is not None:
                (low, high), method = percentile_interval(drawn), BOOTSTRAP
            told = _line(value, len(whom) * (len(whom) - 1) // 2, clusters, method, low, high)
            version = f"{name}, {way}" if name else way
            lines.add(places[version], number, np.array([at]), np.array([candidates]), **told)


def _rivals(chosen: list[list[Piece]]) -> Rivals:
    values = [np.array([piece.value for piece in pieces]) for pieces in chosen]
    drawn = [np.array([piece.drawn for piece in pieces]).T for pieces in chosen]
    halves = [np.stack([piece.halves for piece in pieces]) for pieces in chosen[:2]]
    return Rivals(*values, *drawn, *halves)


def _line(
    value: float,
    n: int,
    clusters: int,
    method: str | None,
    low: float = float("nan"),
    high: float = float("nan"),
    unparsed: float = float("nan"),
) -> dict[str, np.ndarray]:
    told = {"value": value, "low": low, "high": high, "n": n, "clusters": clusters, "unparsed": unparsed}
    return {name: np.array([each]) for name, each in told.items()} | {"method": np.array([method], dtype=object)}
