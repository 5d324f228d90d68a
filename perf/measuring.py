"""CPU of all MedQ-Deg measures with intervals, against scipy.stats.bootstrap for the same intervals.

Both are counted from ready cluster sums to interval ends: scipy is given such sums and draws as many resamples for
the same number of clusters; only some of its intervals are really drawn, the others scaled from those. Its figure is
a plain ratio of sums, whatever the measure. Beside it stands all that wardround does: it reads ten million marks, adds
them up, and writes measures.csv.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean

import numpy as np
import polars as pl
from scipy.stats import bootstrap

from perf.bars import bar, figure, versions
from perf.measured import measure
from perf.peers.measuring import CANDIDATES, write_marks
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.record import MeasureContext

TRIALS = 10
MEASURED = 3  # intervals that scipy really draws for each group of slices and measures
RESAMPLES = 2_000


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf measuring")
    parser.add_argument("--candidates", type=int, default=CANDIDATES)
    parser.add_argument(
        "--without-scipy", action="store_true", help="only wardround's own CPU and memory, which is quick"
    )
    parser.add_argument("--rounds", type=int, default=1, help="of it without scipy")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'numpy', 'polars', 'scipy')}")
    many, few = options.candidates, max(1, options.candidates // 4)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        marks = write_marks(Path(folder) / "marks", many)
        print(f"  {marks:,} marks of {many} candidates made in {time.perf_counter() - started:.0f} s")
        if options.without_scipy:
            return _measure_alone(Path(folder), many, options.rounds)
        part = measure("perf.peers.measuring", Path(folder) / "marks", few, Path(folder) / "part.csv")
        usage = measure("perf.peers.measuring", Path(folder) / "marks", many, Path(folder) / "measures.csv")
        table = pl.read_csv(Path(folder) / "measures.csv")
    ours, seconds = usage["own"], usage["seconds"]
    intervals = table.filter(pl.col("method") == "bootstrap", pl.col("candidate") != "*")
    intervals = intervals.filter(pl.Series(_sums_of(intervals) > 0))  # scipy is not charged for figures of figures
    print(f"  {len(intervals):,} bootstrap intervals from marks in {seconds:.1f} s, {ours:.1f} s of CPU")
    of = _sums_of(intervals)
    print(f"  {(of == 2).sum():,} of them are ratios of two sums, {(of > 2).sum():,} functions of up to {of.max()}")
    scipys = _scipy(intervals)
    print(f"  scipy.stats.bootstrap (percentile) from ready cluster sums: {scipys:,.0f} s of CPU, scaled")
    whole = (
        f"whole, from marks to measures.csv: {ours:.1f} s of CPU, {scipys / ours:.0f} times less than scipy's intervals"
    )
    print(f"  intervals from cluster sums: {usage['intervals']:.1f} s of CPU; {whole}")
    growth = (usage["own"] / part["own"]) / (many / few)
    return all(
        [
            bar("times less CPU than scipy, from cluster sums to intervals", scipys / usage["intervals"], at_least=200),
            bar("times less CPU than scipy's intervals, from marks to measures.csv", scipys / ours, at_least=250),
            bar(f"CPU per candidate, {many} against {few}", growth, at_most=1.2),
            bar("peak memory in MB", usage["peak_mb"], at_most=1500),
        ]
    )


def _measure_alone(folder: Path, candidates: int, rounds: int) -> bool:
    """Wardround's own figures; ratios to scipy's need a run with it."""
    usages = [
        measure("perf.peers.measuring", folder / "marks", candidates, folder / "measures.csv") for _ in range(rounds)
    ]
    figure("seconds of CPU from marks to measures.csv", [usage["own"] for usage in usages])
    figure("seconds of CPU from cluster sums to intervals", [usage["intervals"] for usage in usages])
    return bar("peak memory in MB", [usage["peak_mb"] for usage in usages], at_most=1500)


def _sums_of(intervals: pl.DataFrame) -> np.ndarray:
    """Of how many sums the figure of each interval is made."""
    measures = define_measures(MeasureContext(TRIALS, "strict-1", letters=4))
    sums = {(m.name, m.version or None): len(set(m.sums)) for m in measures}
    counts: np.ndarray = np.array([sums[row] for row in intervals.select("measure", "version").iter_rows()])
    return counts


def _scipy(intervals: pl.DataFrame) -> float:
    """CPU that scipy needs for these intervals: some are drawn, the others scaled by clusters and sums."""
    random = np.random.default_rng(0)
    total = 0.0
    groups = intervals.with_columns(sums=_sums_of(intervals)).group_by("measure", "version", "sums").agg("clusters")
    costs: dict[tuple[int, int], float] = {}
    for columns, clusters in groups.select("sums", "clusters").iter_rows():
        sizes = sorted(clusters)
        for third in np.array_split(np.array(sizes), 3):
            if not len(third):
                continue
            size = int(np.median(third))
            key = (columns, round(np.log2(size) * 2))
            if key not in costs:
                drawn = [_one(random.random((columns, size)) + 1.0, random) for _ in range(MEASURED)]
                costs[key] = mean(drawn) / size
            total += costs[key] * float(third.sum())
    return total


def _one(sums: np.ndarray, random: np.random.Generator) -> float:
    """CPU of one interval of a figure made of these sums (columns x clusters)."""

    def figure(*columns: np.ndarray, axis: int) -> np.ndarray:
        totals = [column.sum(axis=axis) for column in columns]
        return sum(totals[:-1]) / totals[-1]

    started = time.process_time()
    bootstrap(tuple(sums), figure, paired=True, vectorized=True, n_resamples=RESAMPLES, method="percentile", rng=random)
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
