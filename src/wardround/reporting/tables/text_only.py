"""Marks the rows of candidates that do not see, in every table of a run that shows images."""

from dataclasses import replace

from wardround.reporting.run_files import TEXT_ONLY, RunFiles
from wardround.reporting.tables.table import Table


def mark_text_only(table: Table, run: RunFiles) -> Table:
    """The table with `text only` after the names of candidates that answered without the images."""
    if table.labels[:1] != ("Candidate",):
        return table
    rows = [
        replace(row, remark=TEXT_ONLY) if row.labels[0] in run.text_only and not row.published else row
        for row in table.rows
    ]
    return replace(table, rows=rows)
