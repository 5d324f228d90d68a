"""Every measure that the marks allow, over the whole and over every slice, with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from wardround.core.study import Study
from wardround.measuring.coded import ITEM, Coded, coded
from wardround.measuring.definitions import Measure, definitions
from wardround.measuring.intervals import Figures, figures
from wardround.measuring.items import items
from wardround.measuring.resampling import Resampling
from wardround.measuring.slices import Slicing, slicings
from wardround.measuring.sums import Whole, cluster_sums
from wardround.measuring.tables import MEASURES

CHUNK = 1_500_000  # marks looked at together


class Taken(NamedTuple):
    """All measures over one slicing."""

    slicing: Slicing
    slice: Whole  # of each cell
    candidate: Whole  # of each cell
    figures: list[Figures]


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
    applied = [m for m in defined if applying[m.needed].any()]
    each = each.with_columns(
        (pl.col(name) * (pl.col(group) > 0)).alias(f"{name}_{group}")
        for group in sorted({m.about for m in applied})
        for name in ("unparsed", "scored")
    )
    needed = ((*m.sums, m.n, f"unparsed_{m.about}", f"scored_{m.about}") for m in applied)
    names = sorted({name for names in needed for name in names})
    each = each.select(*ITEM, *names)
    resampling = Resampling(numbers.size, study.seed)
    taken = []
    for slicing in taken_apart:
        sums = cluster_sums(slicing.of(each), names)
        taken.append(Taken(slicing, sums.slice, sums.candidate, [figures(m, sums) for m in applied]))
        resampling.add(taken[-1].figures, sums)
    resampling.finish()
    return pl.concat(
        _rows(found, whole, applying, numbers).with_columns(
            place=pl.lit(defined.index(found.measure)), slicing=pl.lit(number)
        )
        for number, whole in enumerate(taken)
        for found in whole.figures
    )


def _rows(found: Figures, taken: Taken, applying: pl.DataFrame, numbers: Coded) -> pl.DataFrame:
    """One measure over one slicing, for every candidate that it applies to; an empty slice has n = 0."""
    cell = ("slice_number", "candidate_number")
    whom = applying.filter(pl.col(found.measure.needed)).select(candidate_number=pl.col("candidate").cast(pl.Int64))
    grid = whom.join(pl.DataFrame({"slice_number": range(len(taken.slicing.slices))}), how="cross")
    columns = {name: getattr(found, name) for name in ("value", "low", "high", "n", "clusters", "unparsed")}
    method = pl.Series("method", found.method.tolist(), dtype=pl.String)
    places = dict(zip(cell, (taken.slice, taken.candidate), strict=True))
    table = grid.join(pl.DataFrame({**places, **columns, "method": method}), on=cell, how="left")
    return table.with_columns(
        pl.col("value", "low", "high", "unparsed").fill_nan(None),
        pl.col("n", "clusters").fill_null(0),
        pl.lit(found.measure.name).alias("measure"),
        pl.lit(found.measure.version or None, dtype=pl.String).alias("version"),
        pl.Series("slice", taken.slicing.slices)[table["slice_number"]],
        pl.Series("candidate", numbers.candidates)[table["candidate_number"]],
    )
