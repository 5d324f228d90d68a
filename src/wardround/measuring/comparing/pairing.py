"""Pairing: the questions and trials that two sides of a comparison share; nothing else is compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wardround.measuring.comparing.signflip import (
    ALPHA,
    EXACT_UNDER,
    FLIPS,
    agreeing,
    alike_interval,
    flip_interval,
    rare_interval,
    sign_flip,
)
from wardround.measuring.engine.encode import ITEM, EncodedMarks
from wardround.measuring.engine.exact import QUANTUM, Floats, exact
from wardround.measuring.engine.intervals import BOOTSTRAP, FEW, FEWEST, TOO_FEW, WILSON
from wardround.measuring.engine.items import build_items
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.resampling.bootstrap import SumBlock, resampled_sums
from wardround.measuring.engine.resampling.percentiles import percentile_interval
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.formulas import ratio

SLOT = ("subject", "matched")
INVERTED, ALIKE = "inverted", "all clusters alike"  # methods of intervals: the inverted test, or no variance


class ComparisonSide(NamedTuple):
    """Marks of one candidate and their items; in both, `matched` is the condition that they are paired by."""

    marks: pl.DataFrame
    items: pl.DataFrame


SidesByCandidate = dict[str, ComparisonSide]


@dataclass(frozen=True)
class PairedSums:
    """Sums over what both sides have, per cluster: those of a, then those of b; groups one after another.

    With several groups the difference is the unweighted mean over groups.
    """

    cluster: Integers
    sums: Floats
    n: int

    def differences(self, measure: Measure) -> Floats:
        """Per cluster the difference of its means times its size; the sign-flip test flips these.

        Their sum divided by the clusters' sizes is the difference of the means. Groups are equally weighted.
        """
        weighted = (np.nan_to_num(difference(measure, group)) * size for group, size in self._groups(measure))
        return exact(np.add.reduce(list(weighted)))

    def sizes(self, measure: Measure) -> Floats:
        """The size of each cluster: what its difference is multiplied by."""
        sizes: Floats = np.add.reduce([size for _, size in self._groups(measure)])
        return sizes

    def _groups(self, measure: Measure) -> list[tuple[Floats, Floats]]:
        """The sums of each group, and the sizes of its clusters, which add up to the same in every group."""
        count = len(measure.sums)
        groups = np.split(self.sums, self.sums.shape[1] // (2 * count), axis=1)
        sizes = [(group[:, 1] + group[:, count + 1]) / 2 for group in groups]
        whole = sum(float(size.sum()) for size in sizes) / len(groups)
        return [(group, size * (whole / size.sum())) for group, size in zip(groups, sizes, strict=True)]


def difference(measure: Measure, sums: Floats) -> Floats:
    """The measure of a minus that of b, in every row of sums; with several groups their mean."""
    count = len(measure.sums)
    differences = [
        measure.formula(*group[:, :count].T) - measure.formula(*group[:, count:].T)
        for group in np.split(sums, sums.shape[1] // (2 * count), axis=1)
    ]
    return differences[0] if len(differences) == 1 else np.mean(differences, axis=0)


def tested_differences(known: Sequence[PairedSums], measure: Measure, clusters: int, seed: int) -> list[dict[str, Any]]:
    """The differences of one family, resampled and tested together: value, interval, p and adjusted p of each."""
    if not known:
        return []
    matrix = np.zeros((clusters, len(known)))  # a cluster that a comparison lacks adds nothing to it
    for place, paired in enumerate(known):
        matrix[paired.cluster, place] = paired.differences(measure)
    tested = sign_flip(matrix, seed)
    rows: list[dict[str, Any]] = []
    for paired, p, adjusted, is_exact in zip(known, tested.p, tested.p_adjusted, tested.exact, strict=True):
        value = float(difference(measure, paired.sums.sum(axis=0, keepdims=True))[0])
        own = paired.differences(measure), paired.sizes(measure)
        low, high, method = interval_of_few(*own, value, float(p), seed) or (None, None, BOOTSTRAP)
        flips = "all flips" if is_exact else f"{FLIPS} flips"
        figures = {"value": value, "low": low, "high": high, "p": float(p), "p_adjusted": float(adjusted)}
        counts = {"n": paired.n, "clusters": len(paired.cluster)}
        rows.append(figures | counts | {"method": f"sign-flip ({flips}), {method}"})
    resampled = [place for place, row in enumerate(rows) if row["method"].endswith(BOOTSTRAP)]
    blocks = [SumBlock(known[place].cluster, known[place].sums.T) for place in resampled]
    for number, drawn in resampled_sums(blocks, clusters, seed):
        low, high = percentile_interval(difference(measure, drawn.all_rows().T))
        row = rows[resampled[number]]
        shown = [row["value"]] if row["p"] <= ALPHA else [row["value"], 0.0]
        row |= {"low": min(low, *shown), "high": max(high, *shown)}
    return rows


def interval_of_few(
    differences: Floats, sizes: Floats, value: float, p: float, seed: int
) -> tuple[float | None, float | None, str] | None:
    """The interval of paired differences if few clusters are there, or differ, or all are alike; else None.

    With its method.
    """
    clusters = len(differences)
    if clusters < FEWEST:
        return None, None, TOO_FEW
    if np.ptp(ratio(differences, sizes)) <= QUANTUM:
        return *alike_interval(value, clusters), ALIKE
    if clusters >= FEW and np.count_nonzero(differences) >= EXACT_UNDER:
        return None
    if clusters >= FEW:
        low, high = agreeing(*rare_interval(differences, sizes), value, p)
        return min(low, value), max(high, value), WILSON
    low, high = flip_interval(differences, sizes, p, seed)
    return min(low, value), max(high, value), INVERTED


def items_by_candidate(encoded: EncodedMarks, measures: list[Measure], trials: int) -> SidesByCandidate:
    """Every candidate's marks and items, not matched yet; items with the sums of these measures only.

    Marks are needed where trials are missing. Where none are, there are no marks: a table of them for each candidate
    is most of the memory of a comparison.
    """
    names = sorted({name for m in measures for name in (*m.sums, m.n, m.required_sum)} | {"shared"})
    by_candidate = {name: _side(number, names, encoded, trials) for number, name in enumerate(encoded.candidates)}
    if all((side.items["whole"] | (side.items["shared"] > 0)).all() for side in by_candidate.values()):
        return by_candidate
    return {
        name: side._replace(marks=encoded.marks_of(number)) for number, (name, side) in enumerate(by_candidate.items())
    }


def _side(number: int, names: list[str], encoded: EncodedMarks, trials: int) -> ComparisonSide:
    """The items of one candidate, and a table of marks without rows."""
    marks = encoded.marks_of(number)
    items = build_items(marks, trials, encoded).frame(names)
    return ComparisonSide(marks.clear(), items.select(*ITEM, *encoded.strata, "whole", *names))


def applies(measure: Measure, by_candidate: SidesByCandidate) -> bool:
    """Whether any candidate has an item that the measure is about."""
    return any((items[measure.required_sum] > 0).any() for _, items in by_candidate.values())


def at_conditions(own: ComparisonSide, conditions: Sequence[int]) -> ComparisonSide:
    """The marks and items of one candidate under these conditions."""
    return ComparisonSide(*(table.filter(pl.col("condition").is_in(list(conditions))) for table in own))


def side_of(own: ComparisonSide, matched_by: Mapping[int, int]) -> ComparisonSide:
    """The marks and items of one candidate under some conditions; `matched_by`: the number each is paired by."""
    conditions = pl.DataFrame(
        {"condition": matched_by.keys(), "matched": matched_by.values()},
        schema={"condition": pl.UInt32, "matched": pl.UInt32},
    )
    return ComparisonSide(*(table.join(conditions, on="condition", how="inner") for table in own))


def pair_sides(
    a: ComparisonSide, b: ComparisonSide, measure: Measure, trials: int, encoded: EncodedMarks
) -> PairedSums:
    """The sums over what both sides have, by cluster."""
    both, sums = paired_items(a, b, measure, trials, encoded), [*measure.sums, *(f"{name}_b" for name in measure.sums)]
    totals = both.group_by("cluster").agg(pl.col(sums).sum()).sort("cluster")
    return PairedSums(
        totals["cluster"].cast(pl.Int64).to_numpy(),
        np.ascontiguousarray(totals.select(sums).to_numpy().astype(np.float64)),
        int(min(both[measure.n].sum(), both[f"{measure.n}_b"].sum())),
    )


def paired_items(
    a: ComparisonSide, b: ComparisonSide, measure: Measure, trials: int, encoded: EncodedMarks
) -> pl.DataFrame:
    """The same questions, under the same other conditions, in the same trials: SLOT, cluster, and sums of both.

    A side with known option probabilities represents all trials. A trial that is missing on one side is left out
    on the other.
    """
    both = a.items.join(b.items, on=SLOT, how="inner", suffix="_b")
    has_same_trials = (pl.col("whole") & pl.col("whole_b")) | (pl.col("shared") > 0) | (pl.col("shared_b") > 0)
    columns = list(
        dict.fromkeys([*SLOT, "cluster", *(f"{n}{b}" for b in ("", "_b") for n in (*measure.sums, measure.n))])
    )
    shared = [both.filter(has_same_trials).select(columns)]
    uneven = both.filter(~has_same_trials).select(SLOT)
    if len(uneven):
        shared.append(_items_of_shared_trials(a, b, uneven, trials, encoded, columns).select(columns))
    whole = measure.sums[1]
    return pl.concat(shared).filter((pl.col(whole) > 0) & (pl.col(f"{whole}_b") > 0))


def _items_of_shared_trials(
    a: ComparisonSide, b: ComparisonSide, uneven: pl.DataFrame, trials: int, encoded: EncodedMarks, columns: list[str]
) -> pl.DataFrame:
    """Items over the trials that both sides have."""
    first, second = (side.marks.join(uneven, on=SLOT, how="semi") for side in (a, b))
    names = sorted({name.removesuffix("_b") for name in columns} - {"cluster", *SLOT})
    tables = []
    for own, other in ((first, second), (second, first)):
        shared = own.join(other, on=(*SLOT, "trial"), how="semi")
        matched = shared.select("subject", "condition", "matched").unique()
        items = build_items(shared.drop("matched"), trials, encoded).frame(names)
        tables.append(items.join(matched, on=("subject", "condition"), how="inner"))
    return tables[0].join(tables[1], on=SLOT, how="inner", suffix="_b")
