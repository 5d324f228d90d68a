"""Bootstrap intervals for many figures at once."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.bootstrap import RESAMPLES, Part, percentile_intervals, resampled_sums
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import BOOTSTRAP, HOLDS, Figures
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import ClusterSums, Whole, distinct

MEMORY = 96_000_000  # bytes of sums that may wait


class Keeping(Protocol):
    """Who wants the resampled values of some measures, to make others of them."""

    def wants(self, measure: Measure, slicing: int) -> bool: ...

    def take(
        self, figures: Figures, slicing: int, cells: Whole, drawn: Floats, part: Part, sums: list[Whole]
    ) -> None: ...


class Waiting(NamedTuple):
    """A measure in some cells of a part, and for each of its sums where the part has them."""

    figures: Figures
    cells: Whole
    sums: list[Whole]
    slicing: int


class Resampling:
    """Figures that wait for their intervals. Drawing the resamples costs, so it is done for many together."""

    def __init__(self, clusters: int, seed: int, keeping: Keeping) -> None:
        self._clusters, self._seed, self._keeping = clusters, seed, keeping
        self._parts: list[Part] = []
        self._waiting: list[list[Waiting]] = []  # of each part
        self._held = 0

    def add(self, found: list[Figures], sums: ClusterSums, slicing: int) -> None:
        """Takes the cells that need it; the candidates of a slice are added up in one product."""
        needing = [(each, _needs(each, self._keeping.wants(each.measure, slicing))) for each in found]
        columns = max(1, len({name for each in found for name in each.measure.sums}))
        many = max(1, MEMORY // (8 * columns * RESAMPLES))
        for first, last in pairwise(_bounds(sums.slice, many)):
            wanted = [(each, first + np.flatnonzero(need[first:last])) for each, need in needing]
            wanted = [(each, cells) for each, cells in wanted if len(cells)]
            if wanted:
                self._add_slice(wanted, first, last, sums, slicing)
            if self._held > MEMORY:
                self.finish()

    def _add_slice(
        self, wanted: list[tuple[Figures, Whole]], first: int, last: int, sums: ClusterSums, slicing: int
    ) -> None:
        """The sums of cells first to last; one that all candidates share, such as how often they were asked, once."""
        place = {name: sums.place[name] for each, _ in wanted for name in each.measure.sums}
        rows = list(dict.fromkeys(place.values()))
        cluster, block = _dense(sums, rows, first, last)
        kept = [cells[:1] if (cells[1:] == cells[:1]).all() else cells for cells in block]
        starts = np.cumsum([0, *map(len, kept)])
        at = {
            row: start + np.arange(last - first) * (len(cells) > 1)
            for row, start, cells in zip(rows, starts[:-1], kept, strict=True)
        }
        self._parts.append(Part(cluster, np.concatenate(kept)))
        self._waiting.append(
            [
                Waiting(each, cells, [at[place[name]][cells - first] for name in each.measure.sums], slicing)
                for each, cells in wanted
            ]
        )
        self._held += 8 * int(starts[-1]) * (len(cluster) + RESAMPLES)

    def finish(self) -> None:
        """Draws the resamples and fills in every interval that waits."""
        for number, drawn in resampled_sums(self._parts, self._clusters, self._seed):
            for each, cells, sums, slicing in self._waiting[number]:
                values = each.measure.value(*map(drawn.of, sums))
                holds, between = each.method[cells] == HOLDS, each.method[cells] == BOOTSTRAP
                each.value[cells[holds]] = np.nanmean(values[holds], axis=1) if holds.any() else []
                if between.any():
                    at = cells[between]
                    each.low[at], each.high[at] = percentile_intervals(values if between.all() else values[between])
                if self._keeping.wants(each.measure, slicing):
                    self._keeping.take(each, slicing, cells, values, self._parts[number], sums)
        self._parts, self._waiting, self._held = [], [], 0


def _dense(sums: ClusterSums, rows: list[int], first: int, last: int) -> tuple[Whole, Floats]:
    """The clusters of cells first to last, and the sums of every cell in each of them (rows x cells x clusters)."""
    ends, cells = sums.ends, last - first
    span, cluster = slice(ends[first], ends[last]), sums.cluster[ends[first] : ends[first + 1]]
    if np.array_equal(np.tile(cluster, cells), sums.cluster[span]):
        return cluster, sums.rows[rows, span].reshape(len(rows), cells, len(cluster))
    cluster, _ = distinct(sums.cluster[span])
    block = np.zeros((len(rows), cells, len(cluster)))
    for cell in range(first, last):
        own = slice(ends[cell], ends[cell + 1])
        block[:, cell - first, np.searchsorted(cluster, sums.cluster[own])] = sums.rows[rows, own]
    return cluster, block


def _bounds(slices: Whole, many: int) -> list[int]:
    """Where to cut the cells: by slice, and after so many of one slice."""
    starts = np.flatnonzero(np.diff(slices, prepend=-1))
    ends = np.append(starts[1:], len(slices))
    return [*(cut for start, end in zip(starts, ends, strict=True) for cut in range(start, end, many)), len(slices)]


def _needs(each: Figures, kept: bool) -> NDArray[np.bool_]:
    """The cells of which resamples are wanted."""
    found: NDArray[np.bool_] = (each.method == BOOTSTRAP) | (each.method == HOLDS) | (kept & ~np.isnan(each.value))
    return found
