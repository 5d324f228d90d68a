"""Remarks on candidates, in every table of a run: those that do not see, and settings that had no effect."""

from dataclasses import replace

from wardround.reporting.run_files import RunFiles
from wardround.reporting.setting_labels import setting_notes
from wardround.reporting.tables.table import Table


def add_remarks(table: Table, run: RunFiles) -> Table:
    """The table with what sets a candidate apart after its name, and what settings had no effect in the notes."""
    notes = [*table.notes, *(note for note in setting_notes(run) if note not in table.notes)]
    if table.labels[:1] != ("Candidate",):
        return replace(table, notes=notes)
    rows = [
        replace(row, remark=remark) if (remark := run.remark(row.labels[0])) and not row.published else row
        for row in table.rows
    ]
    return replace(table, rows=rows, notes=notes)
