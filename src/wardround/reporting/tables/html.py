"""A table for the page: intervals under their figures, published rows set apart."""

from __future__ import annotations

from markupsafe import Markup

from wardround.reporting.tables.table import Table, interval_of, note_marks, overs, value_of
from wardround.reporting.templating import render


def as_html(table: Table) -> Markup:
    """The table without its title, then its notes; a section says the title."""
    rows = [
        {
            "labels": row.labels,
            "published": row.published,
            "cells": [
                {"value": value_of(cell, column), "interval": interval_of(cell, column), "marks": note_marks(cell)}
                for cell, column in zip(row.cells, table.columns, strict=True)
            ],
        }
        for row in table.rows
    ]
    return render(
        "table.html",
        labels=table.labels,
        overs=overs(table.columns),
        headings=[(column.heading, note_marks(column)) for column in table.columns],
        rows=rows,
        notes=list(table.numbered_notes()),
    )
