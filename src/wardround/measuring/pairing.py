"""Pairing: what two sides of a comparison share, which is all that may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.measuring.coded import Coded
from wardround.measuring.exact import Floats, exact
from wardround.measuring.items import items
from wardround.measuring.kinds import Measure
from wardround.measuring.sums import Whole

SLOT = ("subject", "matched")


@dataclass(frozen=True)
class Side:
    """One side: some marks of one candidate, and their items, each with the condition that it is `matched` by."""

    marks: pl.DataFrame
    items: pl.DataFrame


@dataclass(frozen=True)
class Paired:
    """Sums over what both sides have, per cluster: those of a, then those of b."""

    cluster: Whole
    sums: Floats
    n: int

    def differences(self, measure: Measure) -> Floats:
        """Per cluster the difference of its means, weighted by its size, so that the differences add up.

        The signs of these are flipped. Their sum over the clusters' sizes is the difference of the means.
        """
        many = len(measure.sums)
        size = (self.sums[:, 1] + self.sums[:, many + 1]) / 2
        return exact(difference(measure, self.sums) * size)


def difference(measure: Measure, sums: Floats) -> Floats:
    """The measure of a minus that of b, in every row of sums."""
    many = len(measure.sums)
    return measure.value(*sums[:, :many].T) - measure.value(*sums[:, many:].T)


def side(marks: pl.DataFrame, each: pl.DataFrame, matched_by: Mapping[int, int]) -> Side:
    """The marks and items of one candidate under some conditions, matched by what those have in common."""
    conditions = pl.DataFrame(
        {"condition": matched_by.keys(), "matched": matched_by.values()},
        schema={"condition": pl.UInt32, "matched": pl.UInt32},
    )
    return Side(*(table.join(conditions, on="condition", how="inner") for table in (marks, each)))


def pair(a: Side, b: Side, measure: Measure, trials: int, numbers: Coded) -> Paired:
    """The same questions, under the same other conditions, in the same trials.

    A side whose option probabilities are known stands for all trials. Where a trial is missing on one side,
    it is left out on the other.
    """
    met = a.items.join(b.items, on=SLOT, how="inner", suffix="_b")
    level = (pl.col("whole") & pl.col("whole_b")) | (pl.col("shared") > 0) | (pl.col("shared_b") > 0)
    sums = [*measure.sums, *(f"{name}_b" for name in measure.sums)]
    columns = list(dict.fromkeys(["cluster", *sums, measure.n, f"{measure.n}_b"]))
    shared = [met.filter(level).select(columns)]
    uneven = met.filter(~level).select(SLOT)
    if len(uneven):
        shared.append(_level(a, b, uneven, trials, numbers, columns).select(columns))
    of = measure.sums[1]
    both = pl.concat(shared).filter((pl.col(of) > 0) & (pl.col(f"{of}_b") > 0))
    added = both.group_by("cluster").agg(pl.col(sums).sum()).sort("cluster")
    return Paired(
        added["cluster"].cast(pl.Int64).to_numpy(),
        np.ascontiguousarray(added.select(sums).to_numpy().astype(np.float64)),
        int(min(both[measure.n].sum(), both[f"{measure.n}_b"].sum())),
    )


def _level(a: Side, b: Side, uneven: pl.DataFrame, trials: int, numbers: Coded, columns: list[str]) -> pl.DataFrame:
    """Items over the trials that both sides have."""
    first, second = (each.marks.join(uneven, on=SLOT, how="semi") for each in (a, b))
    names = sorted({name.removesuffix("_b") for name in columns} - {"cluster"})
    found = []
    for own, other in ((first, second), (second, first)):
        kept = own.join(other, on=(*SLOT, "trial"), how="semi")
        matched = kept.select("subject", "condition", "matched").unique()
        each = items(kept.drop("matched"), trials, numbers).frame(names)
        found.append(each.join(matched, on=("subject", "condition"), how="inner"))
    return found[0].join(found[1], on=SLOT, how="inner", suffix="_b")
