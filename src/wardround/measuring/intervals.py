"""Which interval a figure gets (specs/statistics.md, Intervals)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.bootstrap import Part, percentile_interval, resampled_sums
from wardround.measuring.definitions import Kind, Measure
from wardround.measuring.exact import Floats
from wardround.measuring.sums import ClusterSums, Whole
from wardround.measuring.wilson import effective_n, student, wilson

FEW, FEWEST = 30, 8  # clusters
EXTREME = 10  # a rate with fewer than this, or all but fewer than this
BOOTSTRAP, WILSON, STUDENT, TOO_FEW = "bootstrap", "wilson", "student", "too few cases"


@dataclass
class Figures:
    """One measure in every cell of a slicing. Cells without a value or interval have nan."""

    measure: Measure
    value: Floats
    n: Whole
    clusters: Whole
    unparsed: Floats
    low: Floats
    high: Floats
    method: NDArray[np.object_]

    @property
    def to_resample(self) -> Whole:
        return np.flatnonzero(self.method == BOOTSTRAP)


def figures(measure: Measure, sums: ClusterSums) -> Figures:
    """Values, and all intervals but those by resampling, which `resample` fills in."""
    part, whole = (sums.row(name) for name in measure.sums)
    parts, wholes = sums.total(part), sums.total(whole)
    value = measure.value(parts, wholes)
    n = sums.total(sums.row(measure.n))
    clusters = sums.total((whole > 0).astype(np.float64))
    about = measure.about
    found = Figures(
        measure,
        value,
        np.rint(n).astype(np.int64),
        clusters.astype(np.int64),
        _share(sums.total(sums.row(f"unparsed_{about}")), sums.total(sums.row(f"scored_{about}"))),
        *(np.full(sums.cells, np.nan) for _ in range(2)),
        _methods(measure.kind, value, n, clusters),
    )
    residual = part - sums.spread(np.nan_to_num(value)) * whole
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = clusters / (clusters - 1) * sums.total(residual**2) / wholes**2
    for method, interval in (
        (WILSON, lambda at: wilson(value[at], effective_n(value[at], n[at], clusters[at], variance[at]))),
        (STUDENT, lambda at: student(value[at], clusters[at], variance[at])),
    ):
        at = np.flatnonzero(found.method == method)
        if len(at):
            found.low[at], found.high[at] = interval(at)
    return found


def _methods(kind: Kind, value: Floats, n: Floats, clusters: Floats) -> NDArray[np.object_]:
    count = np.nan_to_num(value) * n
    extreme = (kind is Kind.RATE) & ((count < EXTREME) | (count > n - EXTREME))
    few = STUDENT if kind is Kind.SIGNED else WILSON
    chosen = np.where(clusters < FEW, few, np.where(extreme, WILSON, BOOTSTRAP))
    chosen = np.where(clusters < FEWEST, TOO_FEW, chosen).astype(object)
    chosen[np.isnan(value)] = None
    return chosen


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


class Resampling:
    """Figures that wait for their bootstrap intervals: many at a time, as drawing the resamples costs most."""

    def __init__(self, clusters: int, seed: int, memory: int = 64_000_000) -> None:
        self.clusters, self.seed, self.memory = clusters, seed, memory
        self._parts: list[Part] = []
        self._waiting: list[list[tuple[Figures, int, int]]] = []  # per part: figures, cell, first column
        self._held = 0

    def add(self, found: list[Figures], sums: ClusterSums) -> None:
        """Lets the cells that need it wait; slices with the same clusters are added up together."""
        wanted: dict[int, list[Figures]] = {}
        for each in found:
            for cell in each.to_resample:
                wanted.setdefault(int(cell), []).append(each)
        by_slice: dict[int, list[int]] = {}
        for cell in sorted(wanted):
            by_slice.setdefault(int(sums.slice[cell]), []).append(cell)
        for cells in by_slice.values():
            self._add_slice(cells, wanted, sums)
            if self._held > self.memory:
                self.finish()

    def _add_slice(self, cells: list[int], wanted: dict[int, list[Figures]], sums: ClusterSums) -> None:
        ends = np.append(sums.starts, len(sums.rows))
        spans = [slice(ends[cell], ends[cell + 1]) for cell in cells]
        cluster = np.unique(np.concatenate([sums.cluster[span] for span in spans]))
        columns, places, width = [], [], 0
        for cell, span in zip(cells, spans, strict=True):
            names = list(dict.fromkeys(name for each in wanted[cell] for name in each.measure.sums))
            block = np.zeros((len(cluster), len(names)))
            at = np.searchsorted(cluster, sums.cluster[span])
            block[at] = sums.rows[span][:, [sums.names.index(name) for name in names]]
            columns.append(block)
            for each in wanted[cell]:
                part, whole = (width + names.index(name) for name in each.measure.sums)
                places.append((each, cell, part, whole))
            width += len(names)
        part = Part(cluster, np.concatenate(columns, axis=1))
        self._parts.append(part)
        self._waiting.append(places)
        self._held += part.sums.nbytes + 16_000 * width

    def finish(self) -> None:
        """Draws the resamples and fills in every interval that waits."""
        totals = resampled_sums(self._parts, self.clusters, self.seed)
        for drawn, places in zip(totals, self._waiting, strict=True):
            for each, cell, part, whole in places:
                values = each.measure.value(drawn[:, part], drawn[:, whole])
                each.low[cell], each.high[cell] = percentile_interval(values)
        self._parts, self._waiting, self._held = [], [], 0
