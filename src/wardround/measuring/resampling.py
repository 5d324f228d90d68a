"""Bootstrap intervals for many figures at once."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from wardround.measuring.bootstrap import RESAMPLES, Part, percentile_interval, resampled_sums
from wardround.measuring.intervals import BOOTSTRAP, Figures
from wardround.measuring.sums import ClusterSums

MEMORY = 64_000_000  # bytes of sums that may wait


class Waiting(NamedTuple):
    """A figure of one cell, and the columns of its part in which its sums are."""

    figures: Figures
    cell: int
    columns: list[int]


class Resampling:
    """Figures that wait for their intervals. Drawing the resamples costs most, so it is done for many together."""

    def __init__(self, clusters: int, seed: int) -> None:
        self._clusters, self._seed = clusters, seed
        self._parts: list[Part] = []
        self._waiting: list[list[Waiting]] = []  # of each part
        self._held = 0

    def add(self, found: list[Figures], sums: ClusterSums) -> None:
        """Takes the cells that need it; the candidates of a slice are added up in one product."""
        wanted: dict[int, list[Figures]] = defaultdict(list)
        for each in found:
            for cell in np.flatnonzero(each.method == BOOTSTRAP).tolist():
                wanted[cell].append(each)
        by_slice: dict[int, list[int]] = defaultdict(list)
        for cell in sorted(wanted):
            by_slice[int(sums.slice[cell])].append(cell)
        for cells in by_slice.values():
            self._add_slice(cells, wanted, sums)
            if self._held > MEMORY:
                self.finish()

    def _add_slice(self, cells: list[int], wanted: dict[int, list[Figures]], sums: ClusterSums) -> None:
        ends = np.append(sums.starts, len(sums.rows))
        spans = [slice(ends[cell], ends[cell + 1]) for cell in cells]
        cluster = np.unique(np.concatenate([sums.cluster[span] for span in spans]))
        blocks, waiting, width = [], [], 0
        for cell, span in zip(cells, spans, strict=True):
            names = list(dict.fromkeys(name for each in wanted[cell] for name in each.measure.sums))
            block = np.zeros((len(cluster), len(names)))
            at = np.searchsorted(cluster, sums.cluster[span])
            block[at] = sums.rows[span][:, [sums.names.index(name) for name in names]]
            blocks.append(block)
            for each in wanted[cell]:
                waiting.append(Waiting(each, cell, [width + names.index(name) for name in each.measure.sums]))
            width += len(names)
        self._parts.append(Part(cluster, np.concatenate(blocks, axis=1)))
        self._waiting.append(waiting)
        self._held += 8 * width * (len(cluster) + RESAMPLES)

    def finish(self) -> None:
        """Draws the resamples and fills in every interval that waits."""
        totals = resampled_sums(self._parts, self._clusters, self._seed)
        for drawn, waiting in zip(totals, self._waiting, strict=True):
            for each, cell, columns in waiting:
                values = each.measure.value(*drawn[:, columns].T)
                each.low[cell], each.high[cell] = percentile_interval(values)
        self._parts, self._waiting, self._held = [], [], 0
