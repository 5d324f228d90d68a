"""A published table for the printers: texts as the paper has them, notes at the figures they are about."""

from __future__ import annotations

from wardround.benchmarks.engine.published import Published, number
from wardround.reporting.tables.table import Cell, Column, Row, Table

KINDS = {
    "printed": "as printed in",
    "digitised": "read off a figure of",
    "estimated": "estimated from what was published with",
}


def printable(published: Published) -> Table:
    """The table with its source in the title; what is said of a whole column stands in its heading."""
    about = published.about
    first = published.columns.index(about.rows) + 1
    labels, columns = published.columns[:first], published.columns[first:]
    return Table(
        title=f"{published.name}: {about.title} ({KINDS[about.kind]} {published.source})",
        labels=tuple(labels),
        columns=[_column(published, name) for name in columns],
        rows=[_row(published, cells, labels, columns) for cells in published.cells],
        notes=[note.note for note in published.notes],
    )


def _column(published: Published, name: str) -> Column:
    numeric = all(number(cells[name]) is not None for cells in published.cells if cells[name])
    notes = tuple(published.notes_at(None, name))
    return Column(name.replace("_", " "), unit="percent" if numeric else "text", notes=notes)


def _row(published: Published, cells: dict[str, str], labels: list[str], columns: list[str]) -> Row:
    name = cells[published.about.rows]
    figures = [Cell(said=cells[each] or "–", notes=tuple(published.notes_at(name, each))) for each in columns]
    return Row(tuple(cells[each] for each in labels), figures)
