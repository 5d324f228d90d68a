"""Pairing: what two sides of a comparison share, which is all that may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.measuring.engine.encode import ITEM, Coded
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.items import items
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import Whole

SLOT = ("subject", "matched")
Own = tuple[pl.DataFrame, pl.DataFrame]  # marks and items of one candidate


@dataclass(frozen=True)
class Side:
    """One side: some marks of one candidate, and their items, each with the condition that it is `matched` by."""

    marks: pl.DataFrame
    items: pl.DataFrame


@dataclass(frozen=True)
class Paired:
    """Sums over what both sides have, per cluster: those of a, then those of b; of several groups one after another.

    Of several groups the unweighted mean of their differences is meant.
    """

    cluster: Whole
    sums: Floats
    n: int

    def differences(self, measure: Measure) -> Floats:
        """Per cluster the difference of its means, weighted by its size, so that the differences add up.

        The signs of these are flipped. Their sum over the clusters' sizes is the difference of the means. A group
        weighs as much as any other, whatever its size.
        """
        many = len(measure.sums)
        groups = np.split(self.sums, self.sums.shape[1] // (2 * many), axis=1)
        sizes = [(group[:, 1] + group[:, many + 1]) / 2 for group in groups]
        whole = sum(float(size.sum()) for size in sizes) / len(groups)
        weighted = (
            np.nan_to_num(difference(measure, group)) * size * (whole / size.sum())
            for group, size in zip(groups, sizes, strict=True)
        )
        return exact(np.add.reduce(list(weighted)))


def difference(measure: Measure, sums: Floats) -> Floats:
    """The measure of a minus that of b, in every row of sums; of several groups the mean over them."""
    many = len(measure.sums)
    found = [
        measure.value(*group[:, :many].T) - measure.value(*group[:, many:].T)
        for group in np.split(sums, sums.shape[1] // (2 * many), axis=1)
    ]
    return found[0] if len(found) == 1 else np.mean(found, axis=0)


def items_by_candidate(numbers: Coded, measures: list[Measure], trials: int) -> dict[str, Own]:
    """Marks and items by candidate; of the items only what is to be compared."""
    names = sorted({name for m in measures for name in (*m.sums, m.n, m.needed)} | {"shared"})
    found = {}
    for number, name in enumerate(numbers.candidates):
        own = numbers.of(number, number)
        found[name] = (own, items(own, trials, numbers).frame(names).select(*ITEM, *numbers.strata, "whole", *names))
    return found


def applies(measure: Measure, by_candidate: dict[str, Own]) -> bool:
    """Whether any candidate was asked anything that the measure is about."""
    return any((each[measure.needed] > 0).any() for _, each in by_candidate.values())


def side(marks: pl.DataFrame, each: pl.DataFrame, matched_by: Mapping[int, int]) -> Side:
    """The marks and items of one candidate under some conditions, matched by what those have in common."""
    conditions = pl.DataFrame(
        {"condition": matched_by.keys(), "matched": matched_by.values()},
        schema={"condition": pl.UInt32, "matched": pl.UInt32},
    )
    return Side(*(table.join(conditions, on="condition", how="inner") for table in (marks, each)))


def pair(a: Side, b: Side, measure: Measure, trials: int, numbers: Coded) -> Paired:
    """What both sides have, by cluster."""
    both, sums = paired_items(a, b, measure, trials, numbers), [*measure.sums, *(f"{name}_b" for name in measure.sums)]
    added = both.group_by("cluster").agg(pl.col(sums).sum()).sort("cluster")
    return Paired(
        added["cluster"].cast(pl.Int64).to_numpy(),
        np.ascontiguousarray(added.select(sums).to_numpy().astype(np.float64)),
        int(min(both[measure.n].sum(), both[f"{measure.n}_b"].sum())),
    )


def paired_items(a: Side, b: Side, measure: Measure, trials: int, numbers: Coded) -> pl.DataFrame:
    """The same questions, under the same other conditions, in the same trials: SLOT, cluster, and sums of both.

    A side whose option probabilities are known stands for all trials. Where a trial is missing on one side,
    it is left out on the other.
    """
    met = a.items.join(b.items, on=SLOT, how="inner", suffix="_b")
    level = (pl.col("whole") & pl.col("whole_b")) | (pl.col("shared") > 0) | (pl.col("shared_b") > 0)
    columns = list(
        dict.fromkeys([*SLOT, "cluster", *(f"{n}{b}" for b in ("", "_b") for n in (*measure.sums, measure.n))])
    )
    shared = [met.filter(level).select(columns)]
    uneven = met.filter(~level).select(SLOT)
    if len(uneven):
        shared.append(_level(a, b, uneven, trials, numbers, columns).select(columns))
    of = measure.sums[1]
    return pl.concat(shared).filter((pl.col(of) > 0) & (pl.col(f"{of}_b") > 0))


def _level(a: Side, b: Side, uneven: pl.DataFrame, trials: int, numbers: Coded, columns: list[str]) -> pl.DataFrame:
    """Items over the trials that both sides have."""
    first, second = (each.marks.join(uneven, on=SLOT, how="semi") for each in (a, b))
    names = sorted({name.removesuffix("_b") for name in columns} - {"cluster", *SLOT})
    found = []
    for own, other in ((first, second), (second, first)):
        kept = own.join(other, on=(*SLOT, "trial"), how="semi")
        matched = kept.select("subject", "condition", "matched").unique()
        each = items(kept.drop("matched"), trials, numbers).frame(names)
        found.append(each.join(matched, on=("subject", "condition"), how="inner"))
    return found[0].join(found[1], on=SLOT, how="inner", suffix="_b")
