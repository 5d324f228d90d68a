"""Which slices are unions of others, so that their resampled sums need only be added up.

A plan is made from some of the items, so it is only likely to hold. Whoever follows it compares the sums over clusters,
which are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.resampling.bootstrap import are_weights_cached
from wardround.measuring.engine.slices import Slicing
from wardround.measuring.engine.sums import Integers

MAX_SAMPLE = 8_000  # items
MAX_SLICES = 2_000  # beyond it their pairs are too many to look at
MAX_DENSE_SLICES = 400  # more are counted faster by SciPy's sparse matrices, which take 0.1 s to load
MAX_ALTERNATIVES = 2  # unions of a slice by finer slicings: the sums of each are kept until then

Slice = tuple[int, int]  # the number of its slicing, and its own


@dataclass(frozen=True)
class UnionPlan:
    """The order in which to measure slicings, and for each slice the disjoint slices that it is the union of.

    There may be several such unions, each of slices of one slicing, since not every sum is taken in every slicing.
    """

    order: Sequence[int]
    unions: dict[Slice, list[list[Slice]]] = field(default_factory=dict)

    def last_uses(self) -> dict[Slice, int]:
        """For each slice that is part of a union, the last slicing that needs it."""
        uses: dict[Slice, int] = {}
        for slicing in self.order:
            for (user, _), unions in self.unions.items():
                if user == slicing:
                    uses |= {part: slicing for parts in unions for part in parts}
        return uses


def plan_unions(slicings: Sequence[Slicing], items: pl.DataFrame, clusters: int) -> UnionPlan:
    """The unions among slices, each of slices of its own slicing or of one that has more, which then comes first."""
    starts = np.cumsum([0, *(len(slicing.slices) for slicing in slicings)])
    if len(slicings) < 2 or starts[-1] > MAX_SLICES or not are_weights_cached(clusters):
        return UnionPlan(range(len(slicings)))
    sample = items.gather_every(-(-len(items) // MAX_SAMPLE))
    assigned = [slicing.assign(sample) for slicing in slicings]
    item = np.concatenate([item for item, _ in assigned])
    slice = np.concatenate([start + number for start, (_, number) in zip(starts[:-1], assigned, strict=True)])
    unions = find_unions(_shared_items(item, slice, (len(sample), int(starts[-1]))), starts)
    return UnionPlan(_order(unions, np.diff(starts)), unions)


def _shared_items(item: Integers, slice: Integers, shape: tuple[int, int]) -> Floats:
    """The number of items that each two slices share."""
    if shape[1] <= MAX_DENSE_SLICES:
        dense = np.zeros(shape, np.float32)  # holds every number of items exactly
        dense[item, slice] = 1
        return (dense.T @ dense).astype(np.float64)
    from scipy.sparse import coo_array

    members = coo_array((np.ones(len(item)), (item, slice)), shape=shape).tocsr()
    shared: Floats = (members.T @ members).toarray()
    return shared


def find_unions(shared: Floats, starts: Integers) -> dict[Slice, list[list[Slice]]]:
    """The unions, from the number of items that each two slices share; `starts` has the first slice of each slicing."""
    size, counts = shared.diagonal(), np.diff(starts)
    slicing = np.repeat(np.arange(len(counts)), counts)
    is_within = (shared == size[:, None]) & (size[:, None] > 0)  # a row's slice in that of a column
    is_composed = np.zeros(len(size), bool)  # of slices of its own slicing

    def find_parts(whole: int, of: int) -> Integers:
        first, last = starts[of : of + 2]
        parts: Integers = first + np.flatnonzero(is_within[first:last, whole] & ~is_composed[first:last])
        if of == slicing[whole]:
            parts = parts[size[parts] < size[whole]]
        is_disjoint_union = size[parts].sum() == shared[np.ix_(parts, parts)].sum() == size[whole]
        return parts if is_disjoint_union else parts[:0]

    present = np.flatnonzero(size).tolist()
    own = {whole: find_parts(whole, slicing[whole]) for whole in present}
    is_composed[[whole for whole, parts in own.items() if len(parts)]] = True
    unions: dict[Slice, list[list[Slice]]] = {}
    for whole in present:
        finer = np.flatnonzero(counts > counts[slicing[whole]]).tolist()
        of_finer = sorted((parts for of in finer if len(parts := find_parts(whole, of))), key=len)
        if alternatives := [*([own[whole]] if len(own[whole]) else []), *of_finer[:MAX_ALTERNATIVES]]:
            numbered = [[(int(slicing[part]), int(part - starts[slicing[part]])) for part in a] for a in alternatives]
            unions[int(slicing[whole]), int(whole - starts[slicing[whole]])] = numbered
    return unions


def _order(unions: dict[Slice, list[list[Slice]]], counts: Integers) -> list[int]:
    """Finer slicings before those that they make up, which follow as soon as they can."""
    needed: dict[int, set[int]] = {slicing: set() for slicing in range(len(counts))}
    for (slicing, _), alternatives in unions.items():
        needed[slicing] |= {part for parts in alternatives for part, _ in parts} - {slicing}
    order: list[int] = []
    waiting = sorted(needed, key=lambda slicing: -counts[slicing])
    while waiting:
        ready = [slicing for slicing in waiting if needed[slicing] <= set(order)]
        order.append(next((slicing for slicing in ready if needed[slicing]), ready[0]))
        waiting.remove(order[-1])
    return order
