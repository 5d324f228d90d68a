"""Every measure that the marks allow, over the whole and over every slice, with its interval."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wardround.core.study import Study
from wardround.measuring.coded import Coded, coded
from wardround.measuring.definitions import Measure, definitions
from wardround.measuring.intervals import Figures, Resampling, figures
from wardround.measuring.items import items
from wardround.measuring.slices import Slicing, slicings
from wardround.measuring.sums import cluster_sums
from wardround.measuring.tables import MEASURES

CHUNK = 1_500_000  # marks looked at together


def measure(marks: pl.DataFrame, study: Study) -> pl.DataFrame:
    """The table of measures.csv: by measure, then slice, then candidate in the study's order."""
    if marks.is_empty():
        return pl.DataFrame(schema=MEASURES)
    numbers = coded(marks, study)
    defined = definitions(study.trials, numbers.parsers, numbers.judges)
    taken_apart = slicings(numbers, study)
    tables = [_measured(chunk, numbers, taken_apart, defined, study) for chunk in _by_candidates(numbers)]
    return pl.concat(tables).sort("place", "slicing", "slice_number", "candidate_number").select(*MEASURES)


def _by_candidates(numbers: Coded) -> Iterator[pl.DataFrame]:
    """The marks, some candidates at a time, so that memory does not grow with their number."""
    many = max(1, CHUNK * len(numbers.candidates) // max(CHUNK, len(numbers.marks)))
    for first in range(0, len(numbers.candidates), many):
        yield numbers.marks.filter(pl.col("candidate").is_between(first, first + many - 1))


def _measured(
    marks: pl.DataFrame, numbers: Coded, taken_apart: list[Slicing], defined: list[Measure], study: Study
) -> pl.DataFrame:
    each = items(marks, study.trials)
    applying = each.group_by("candidate").agg((pl.col(sorted({m.needed for m in defined})) > 0).any())
    defined_here = [(place, m) for place, m in enumerate(defined) if applying[m.needed].any()]
    groups = sorted({m.about for _, m in defined_here})
    each = each.with_columns(
        (pl.col(name) * (pl.col(group) > 0)).alias(f"{name}_{group}")
        for group in groups
        for name in ("unparsed", "scored")
    )
    names = sorted(
        {name for _, m in defined_here for name in (*m.sums, m.n, f"unparsed_{m.about}", f"scored_{m.about}")}
    )
    each = each.select("candidate", "cluster", "subject", "condition", *names)
    resampling = Resampling(numbers.size, study.seed)
    waiting = []
    for number, slicing in enumerate(taken_apart):
        sums = cluster_sums(slicing.of(each), names)
        found = [(place, figures(m, sums)) for place, m in defined_here]
        resampling.add([figure for _, figure in found], sums)
        cells = {"slice_number": sums.slice, "candidate_number": sums.candidate}
        waiting += [(number, slicing, place, figure, cells) for place, figure in found]
    resampling.finish()
    return pl.concat(_rows(*told, applying, numbers) for told in waiting)


def _rows(
    number: int,
    slicing: Slicing,
    place: int,
    found: Figures,
    cells: dict[str, object],
    applying: pl.DataFrame,
    numbers: Coded,
) -> pl.DataFrame:
    """One measure over one slicing, for every candidate that it applies to; an empty slice has n = 0."""
    told = found.measure
    whom = applying.filter(pl.col(told.needed)).select(candidate_number=pl.col("candidate").cast(pl.Int64))
    grid = whom.join(pl.DataFrame({"slice_number": range(len(slicing.slices))}), how="cross")
    columns = {name: getattr(found, name) for name in ("value", "low", "high", "n", "clusters", "unparsed")}
    method = pl.Series("method", found.method.tolist(), dtype=pl.String)
    table = grid.join(pl.DataFrame({**cells, **columns, "method": method}), on=tuple(cells), how="left")
    return table.with_columns(
        pl.col("value", "low", "high", "unparsed").fill_nan(None),
        pl.col("n", "clusters").fill_null(0),
        pl.lit(told.name).alias("measure"),
        pl.lit(told.version).alias("version"),
        pl.lit(place).alias("place"),
        pl.lit(number).alias("slicing"),
        pl.Series("slice", slicing.slices)[table["slice_number"]],
        pl.Series("candidate", numbers.candidates)[table["candidate_number"]],
    )
