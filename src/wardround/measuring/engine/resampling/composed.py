"""Resampled sums of slices, and those that are added up from the resampled sums of other slices.

A slice is often the union of others: all cases, of their capabilities; L1+L2, of L1 and L2. What is added up is exact
(see exact.py), so that it is the same as if it had been resampled.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.known_sums import DIFFERENCES
from wardround.measuring.engine.resampling.bootstrap import RESAMPLES, ResampledSums, SumBlock
from wardround.measuring.engine.resampling.unions import Slice, UnionPlan
from wardround.measuring.engine.sums import Integers

MAX_KNOWN_BYTES = 256_000_000  # of resampled sums


@dataclass(frozen=True)
class SliceSums:
    """The sums of one slice, or of some of its candidates."""

    slice: Slice
    is_whole: bool  # whether all of its candidates are here
    candidate: Integers  # of each cell
    block: SumBlock
    rows: dict[str, Integers]  # for each sum the row of each cell; equal sums have the same rows

    @property
    def bytes_resampled(self) -> int:
        return 8 * len(self.block.sums) * (len(self.block.cluster) + RESAMPLES)

    def differences(self) -> tuple[Integers, Integers, Integers]:
        """Rows that are in every cluster one row minus another (DIFFERENCES), and these two, which are no such rows."""
        names = [(name, *pair) for name, pair in DIFFERENCES.items() if self.rows.keys() >= {name, *pair}]
        if not names:
            return (np.zeros(0, np.int64),) * 3
        row, first, second = (
            np.concatenate([self.rows[name] for name in column]) for column in zip(*names, strict=True)
        )
        sums = self.block.sums
        holds = ~np.isin(row, np.concatenate([first, second]))
        holds[holds] = _are_differences(sums, row[holds], first[holds], second[holds])
        return row[holds], first[holds], second[holds]


@dataclass(frozen=True)
class Part:
    """The resampled sums of one slice, of which some rows are added."""

    sums: SliceSums
    totals: Floats

    def rows_like(self, whole: SliceSums) -> Integers:
        """For each row of a union the row of this part that has the same sum of the same candidate; -1: none."""
        cell = np.minimum(np.searchsorted(self.sums.candidate, whole.candidate), len(self.sums.candidate) - 1)
        cells = np.flatnonzero(self.sums.candidate[cell] == whole.candidate)
        rows = np.full(len(whole.block.sums), -1)
        for name in self.sums.rows.keys() & whole.rows.keys():
            rows[whole.rows[name][cells]] = self.sums.rows[name][cell[cells]]
        return rows


@dataclass(frozen=True)
class Composition:
    """Rows of a slice that are the sums of rows of its parts."""

    rows: Integers
    parts: list[tuple[Part, Integers]]  # with the rows of each part

    def add_up(self, totals: Floats) -> None:
        """Puts the sums of the parts into the rows of `totals`."""
        if uses_loops():
            from wardround.measuring.engine.loops.unions import add_rows

            for number, (part, part_rows) in enumerate(self.parts):
                add_rows(totals, self.rows, part.totals, part_rows, number == 0)
            return
        (first, rows), *others = self.parts
        added = first.totals[rows]
        for part, part_rows in others:
            added += part.totals[part_rows]
        totals[self.rows] = added


@dataclass(frozen=True)
class KnownRows:
    """The rows of a slice that need not be resampled."""

    compositions: list[Composition]
    differences: tuple[Integers, Integers, Integers]
    is_left: NDArray[np.bool_]  # whether each row must be resampled

    def complete(self, drawn: ResampledSums) -> ResampledSums:
        """All rows, from those that were left and resampled."""
        if self.is_left.all():
            return drawn
        totals = np.empty((len(self.is_left), RESAMPLES))
        totals[self.is_left] = drawn.all_rows()
        self.fill(totals)
        return ResampledSums(totals)

    def fill(self, totals: Floats) -> None:
        """Puts all other rows beside those that were resampled."""
        for composition in self.compositions:
            composition.add_up(totals)
        row, first, second = self.differences
        if uses_loops():
            from wardround.measuring.engine.loops.unions import put_differences

            put_differences(totals, row, first, second)
        else:
            totals[row] = totals[first] - totals[second]


class KnownSums:
    """The resampled sums of the slices that others are unions of, until the last of these is measured."""

    def __init__(self, plan: UnionPlan) -> None:
        self._plan, self._last_uses = plan, plan.last_uses()
        self._parts: dict[Slice, Part] = {}
        self._bytes = 0

    @property
    def is_used(self) -> bool:
        """Whether any slice is a union of others."""
        return bool(self._last_uses)

    def is_composed(self, slice: Slice) -> bool:
        """Whether a slice is a union of others of its slicing, which must be resampled first."""
        return any(part[0] == slice[0] for parts in self._plan.unions.get(slice, ()) for part in parts)

    def find(self, whole: SliceSums) -> KnownRows:
        """The rows that are sums of known rows, or differences: equal in every cluster, whatever is said of them."""
        row, first, second = whole.differences()
        left = np.ones(len(whole.block.sums), bool)
        left[row] = False
        compositions = []
        for slices in self._plan.unions.get(whole.slice, ()):
            parts = [self._parts[slice] for slice in slices if slice in self._parts]
            if len(parts) < len(slices):
                continue
            matches = [(part, part.rows_like(whole)) for part in parts]
            rows = np.flatnonzero(left & np.all([match >= 0 for _, match in matches], axis=0))
            rows = rows[_are_sums(whole.block, rows, [(part.sums.block, match[rows]) for part, match in matches])]
            if len(rows):
                left[rows] = False
                compositions.append(Composition(rows, [(part, match[rows]) for part, match in matches]))
        return KnownRows(compositions, (row, first, second), left)

    def keep(self, sums: SliceSums, resampled: ResampledSums) -> None:
        """Keeps the sums of a slice if another one needs them, as far as there is room."""
        if self.keeps(sums):
            self._parts[sums.slice] = Part(sums, resampled.all_rows())
            self._bytes += sums.bytes_resampled

    def keeps(self, sums: SliceSums) -> bool:
        """Whether the sums of a slice are to be kept."""
        is_used = sums.is_whole and sums.slice in self._last_uses
        return is_used and self._bytes + sums.bytes_resampled <= MAX_KNOWN_BYTES

    def drop(self, slicing: int) -> None:
        """Drops what no slicing after this one needs."""
        for slice in [slice for slice in self._parts if self._last_uses[slice] == slicing]:
            self._bytes -= self._parts.pop(slice).sums.bytes_resampled


def _are_sums(whole: SumBlock, rows: Integers, parts: list[tuple[SumBlock, Integers]]) -> NDArray[np.bool_]:
    """Whether each of these rows is the sum of one row of every part, in every cluster."""
    left = whole.sums[rows]
    for block, part_rows in parts:
        place = np.minimum(np.searchsorted(whole.cluster, block.cluster), len(whole.cluster) - 1)
        if not np.array_equal(whole.cluster[place], block.cluster):
            return np.zeros(len(rows), bool)
        if uses_loops():
            from wardround.measuring.engine.loops.unions import take_off

            take_off(left, block.sums, part_rows, place)
        else:
            left[:, place] -= block.sums[part_rows]
    flags: NDArray[np.bool_] = (left == 0).all(axis=1)
    return flags


def _are_differences(sums: Floats, row: Integers, first: Integers, second: Integers) -> NDArray[np.bool_]:
    """Whether each of these rows is one row minus another, in every cluster."""
    if uses_loops():
        from wardround.measuring.engine.loops.unions import are_differences

        compiled: NDArray[np.bool_] = are_differences(sums, row, first, second)
        return compiled
    flags: NDArray[np.bool_] = (sums[row] == sums[first] - sums[second]).all(axis=1)
    return flags
