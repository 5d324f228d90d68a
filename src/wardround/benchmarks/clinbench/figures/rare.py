"""Table 5 as intended: rare diseases against all other cases, and the difference with its interval."""

from pathlib import Path

import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import accuracy_by_group, pooled_accuracies, resampled_cell
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.reporting.absence import NOT_ASKED
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

RARE, OTHERS = "rare", "others"
NOTES = [
    "Others are all cases without the tag rare: the complement, not the overall average that the paper prints.",
    "Both are resampled together, by clusters of cases; the difference is between different cases, so not paired.",
    "Rare - overall is the paper's delta: rare cases are in both.",
]


def table5(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Rare, others, and the differences of rare from the others and from all cases, for every candidate."""
    is_rare = pl.col("tag").list.contains(RARE)
    accuracies = accuracy_by_group(run, pl.when(is_rare).then(pl.lit(RARE)).otherwise(pl.lit(OTHERS)))
    rows = []
    for candidate in run.candidates:
        rare, others = (accuracies.get((candidate, group)) for group in (RARE, OTHERS))
        if rare is None or others is None:
            cells = [group.cell if group else Cell(text=NOT_ASKED) for group in (rare, others)]
            rows.append(TableRow((candidate,), [*cells, Cell(), Cell()]))
            continue
        asked, clusters = rare.asked + others.asked, min(rare.clusters, others.clusters)
        differences = [
            resampled_cell(rare.accuracies - accuracies, asked, clusters)
            for accuracies in (others.accuracies, pooled_accuracies(rare, others))
        ]
        rows.append(TableRow((candidate,), [rare.cell, others.cell, *differences]))
    columns = [Column("Rare"), Column("Others"), Column("Rare - others"), Column("Rare - overall")]
    return [Table("Rare diseases against all others", ("Candidate",), columns, rows, NOTES)], []
