"""Bootstrap intervals for many figures at once."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import ALIKE, BOOTSTRAP, SHARE_OF_RESAMPLES, CellEstimates, without_spread
from wardround.measuring.engine.known_sums import shared_by_differences
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.resampling.bootstrap import (
    RESAMPLES,
    ResampledSums,
    SumBlock,
    are_weights_cached,
    resample_rows,
    resampled_sums,
)
from wardround.measuring.engine.resampling.composed import KnownSums, SliceSums
from wardround.measuring.engine.resampling.percentiles import ENDS, percentile_intervals
from wardround.measuring.engine.resampling.unions import UnionPlan
from wardround.measuring.engine.sums import ClusterSums, Integers, SumStorage, distinct
from wardround.measuring.measures.formulas import ratio

MAX_PENDING_BYTES = 96_000_000  # of sums


class PendingEstimates(NamedTuple):
    """A measure in some cells of a block, and for each of its sums the rows of the block."""

    estimates: CellEstimates
    cells: Integers
    sums: list[Integers]
    slicing: int


class ResampleConsumer(Protocol):
    """Takes the resampled values of some measures, to derive other figures from them."""

    def wants(self, measure: Measure, slicing: int) -> bool: ...

    def receive(self, pending: PendingEstimates, drawn: Floats, block: SumBlock) -> None: ...


class Resampling:
    """Estimates that still lack their intervals. Resampling is costly, so it is done for many together.

    With a plan, slicings are added in its order, and what is the sum of other slices is added up.
    """

    def __init__(
        self, clusters: int, seed: int, consumer: ResampleConsumer | None = None, plan: UnionPlan | None = None
    ) -> None:
        self._clusters, self._seed, self._consumer = clusters, seed, consumer
        self._known = KnownSums(plan or UnionPlan(()))
        self._pending: list[tuple[SliceSums, list[PendingEstimates]]] = []
        self._pending_bytes = 0
        self._storage = SumStorage()

    def add(self, estimates: list[CellEstimates], sums: ClusterSums, slicing: int) -> None:
        """Adds the cells that need resampling; the candidates of a slice are added up in one product."""
        wants = self._consumer.wants if self._consumer is not None else lambda measure, slicing: False
        needs = [(e, _needs_resamples(e, wants(e.measure, slicing))) for e in estimates]
        columns = max(1, len({name for estimate in estimates for name in estimate.measure.sums}))
        max_cells = max(1, MAX_PENDING_BYTES // (8 * columns * RESAMPLES))
        for first, last in pairwise(_bounds(sums.slice, max_cells)):
            wanted = [(estimate, first + np.flatnonzero(needed[first:last])) for estimate, needed in needs]
            wanted = [(estimate, cells) for estimate, cells in wanted if len(cells)]
            if wanted:
                self._add_slice(wanted, first, last, sums, slicing)
            if self._pending_bytes > MAX_PENDING_BYTES:
                self.finish()
        if self._known.is_used:
            self.finish()
            self._known.drop(slicing)

    def _add_slice(
        self, wanted: list[tuple[CellEstimates, Integers]], first: int, last: int, sums: ClusterSums, slicing: int
    ) -> None:
        """The sums of cells first to last; a sum that all candidates share, such as a denominator, is stored once."""
        names = dict.fromkeys(name for estimate, _ in wanted for name in estimate.measure.sums)
        names |= dict.fromkeys(name for name in shared_by_differences(names) if name in sums.place)
        place = {name: sums.place[name] for name in names}
        rows = list(dict.fromkeys(place.values()))
        cluster, block = _dense(sums, rows, first, last)
        rows_kept = [cells[:1] if (cells[1:] == cells[:1]).all() else cells for cells in block]
        starts = np.cumsum([0, *map(len, rows_kept)])
        row_by_sum = {
            row: start + np.arange(last - first) * (len(cells) > 1)
            for row, start, cells in zip(rows, starts[:-1], rows_kept, strict=True)
        }
        slice_sums = SliceSums(
            (slicing, int(sums.slice[first])),
            int((sums.slice == sums.slice[first]).sum()) == last - first,
            sums.candidate[first:last],
            SumBlock(cluster, np.concatenate(rows_kept)),
            {name: row_by_sum[row] for name, row in place.items()},
        )
        pending = [
            PendingEstimates(
                estimate, cells, [slice_sums.rows[name][cells - first] for name in estimate.measure.sums], slicing
            )
            for estimate, cells in wanted
        ]
        self._pending.append((slice_sums, pending))
        self._pending_bytes += slice_sums.bytes_resampled

    def finish(self) -> None:
        """Draws the resamples and fills in every pending interval."""
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        for is_composed in (False, True):  # of slices that are resampled first
            chosen = [slice for slice in pending if self._known.is_composed(slice[0].slice) == is_composed]
            for number, resampled in self._resample([sums for sums, _ in chosen]):
                sums, estimates = chosen[number]
                self._fill_in(estimates, resampled, sums.block)

    def _resample(self, slices: list[SliceSums]) -> Iterator[tuple[int, ResampledSums]]:
        """The number of each slice, and its sums in every resample: those that are not known are drawn."""
        known = [self._known.find(sums) for sums in slices]
        if uses_loops() and are_weights_cached(self._clusters):
            for number, (sums, rows) in enumerate(zip(slices, known, strict=True)):
                shape = len(sums.block.sums), RESAMPLES
                totals = np.empty(shape) if self._known.keeps(sums) else self._storage.rows(*shape)
                resample_rows(sums.block, np.flatnonzero(rows.is_left), totals, self._clusters, self._seed)
                rows.fill(totals)
                resampled = ResampledSums(totals)
                self._known.keep(sums, resampled)
                yield number, resampled
            return
        blocks = [
            SumBlock(sums.block.cluster, sums.block.sums if rows.is_left.all() else sums.block.sums[rows.is_left])
            for sums, rows in zip(slices, known, strict=True)
        ]
        for number, drawn in resampled_sums(blocks, self._clusters, self._seed):
            resampled = known[number].complete(drawn)
            self._known.keep(slices[number], resampled)
            yield number, resampled

    def _fill_in(self, pending: list[PendingEstimates], resampled: ResampledSums, block: SumBlock) -> None:
        """The estimates of one block; intervals are taken together, in large studies those of ratios by a loop."""
        are_ratios: list[bool] = []
        ratios: list[tuple[Integers, Integers]] = []
        drawn: list[Floats] = []
        for estimate, cells, sums, slicing in pending:
            method = estimate.method[cells]
            conditions, is_own = method == SHARE_OF_RESAMPLES, method == BOOTSTRAP
            is_wanted = self._consumer is not None and self._consumer.wants(estimate.measure, slicing)
            is_kept = is_wanted or bool(conditions.any())
            are_ratios.append(uses_loops() and estimate.measure.formula is ratio and not is_kept)
            if are_ratios[-1]:
                part, whole = sums
                ratios.append((resampled.places(part[is_own]), resampled.places(whole[is_own])))
                continue
            values = estimate.measure.formula(*map(resampled.rows, sums))
            estimate.value[cells[conditions]] = np.nanmean(values[conditions], axis=1) if conditions.any() else []
            drawn.append(values if is_own.all() else values[is_own])
            if self._consumer is not None and is_wanted:
                self._consumer.receive(PendingEstimates(estimate, cells, sums, slicing), values, block)
        of_ratios, of_values = _ratio_intervals(resampled.totals, ratios), _intervals(drawn)
        for (estimate, cells, *_), is_ratio in zip(pending, are_ratios, strict=True):
            low, high = next(of_ratios if is_ratio else of_values)
            own = cells[estimate.method[cells] == BOOTSTRAP]
            # a skewed measure may lie outside the middle of its resamples
            estimate.low[own] = np.minimum(low, estimate.value[own])
            estimate.high[own] = np.maximum(high, estimate.value[own])
            alike = own[estimate.high[own] - estimate.low[own] < ALIKE]
            without_spread(alike, estimate.low, estimate.high, estimate.method)


def _intervals(drawn: list[Floats]) -> Iterator[tuple[Floats, Floats]]:
    """The ends of the intervals of each array of resampled values."""
    if drawn:
        yield from _split(percentile_intervals(np.concatenate(drawn)), [len(values) for values in drawn])


def _ratio_intervals(totals: Floats, ratios: list[tuple[Integers, Integers]]) -> Iterator[tuple[Floats, Floats]]:
    """Those of ratios of rows of totals, without storing their resampled values."""
    if ratios:
        from wardround.measuring.engine.loops.intervals import ratio_ends

        part, whole = (np.concatenate(rows) for rows in zip(*ratios, strict=True))
        yield from _split(ratio_ends(totals, part, whole, ENDS), [len(rows) for rows, _ in ratios])


def _split(ends: tuple[Floats, Floats], sizes: list[int]) -> Iterator[tuple[Floats, Floats]]:
    last = 0
    for size in sizes:
        first, last = last, last + size
        yield ends[0][first:last], ends[1][first:last]


def _dense(sums: ClusterSums, rows: list[int], first: int, last: int) -> tuple[Integers, Sequence[Floats]]:
    """The clusters of cells first to last, and for each row the sums of every cell in each of them."""
    ends, cells = sums.ends, last - first
    span, cluster = slice(ends[first], ends[last]), sums.cluster[ends[first] : ends[first + 1]]
    if np.array_equal(np.tile(cluster, cells), sums.cluster[span]):
        return cluster, [sums.rows[row, span].reshape(cells, len(cluster)) for row in rows]
    cluster, _ = distinct(sums.cluster[span])
    block = np.zeros((len(rows), cells, len(cluster)))
    for cell in range(first, last):
        own = slice(ends[cell], ends[cell + 1])
        block[:, cell - first, np.searchsorted(cluster, sums.cluster[own])] = sums.rows[rows, own]
    return cluster, list(block)


def _bounds(slices: Integers, max_cells: int) -> list[int]:
    """Where to cut the cells: at each slice, and after `max_cells` of one slice."""
    starts = np.flatnonzero(np.diff(slices, prepend=-1))
    ends = np.append(starts, len(slices))[1:]
    return [
        *(cut for start, end in zip(starts, ends, strict=True) for cut in range(start, end, max_cells)),
        len(slices),
    ]


def _needs_resamples(estimate: CellEstimates, is_wanted: bool) -> NDArray[np.bool_]:
    """Whether each cell needs resamples."""
    needed: NDArray[np.bool_] = np.isin(estimate.method, [BOOTSTRAP, SHARE_OF_RESAMPLES])
    return needed | (is_wanted & ~np.isnan(estimate.value))
