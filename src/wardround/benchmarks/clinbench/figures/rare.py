"""Table 5 as it is meant: rare diseases against all other cases, and the difference with its interval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import cell, grouped
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

RARE, OTHERS = "rare", "others"
NOTES = [
    "Others are all cases without the tag rare: the complement, not the overall average that the paper prints.",
    "Both are drawn anew together, by clusters of cases; the difference is of different cases, so it is not paired.",
]


def table5(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Rare, others, and the difference, for every candidate."""
    found = grouped(run, pl.when(pl.col("tag").list.contains(RARE)).then(pl.lit(RARE)).otherwise(pl.lit(OTHERS)))
    rows = []
    for name in run.candidates:
        rare, others = (found.get((name, group)) for group in (RARE, OTHERS))
        if rare is None or others is None:
            rows.append(
                Row((name,), [each.cell if each else Cell(said="no cases") for each in (rare, others)] + [Cell()])
            )
            continue
        gap = cell(
            rare.accuracies - others.accuracies,
            rare.asked + others.asked,
            min(rare.clusters, others.clusters),
        )
        rows.append(Row((name,), [rare.cell, others.cell, gap]))
    columns = [Column("Rare"), Column("Others"), Column("Rare - others")]
    return [Table("Rare diseases against all others", ("Candidate",), columns, rows, NOTES)], []
