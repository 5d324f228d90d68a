"""A table as HTML: intervals under their figures, published rows marked."""

from markupsafe import Markup

from wardround.reporting.tables.table import Table, note_marks
from wardround.reporting.templating import render


def as_html(table: Table) -> Markup:
    """The table and its notes, without the title, which the section prints."""
    rows = [
        {
            "heading": heading,
            "labels": row.labels,
            "is_average": row.is_average,
            "published": row.published,
            "remarks": row.remarks,
            "cells": [
                {"value": column.cell_text(cell), "interval": column.interval_text(cell), "marks": note_marks(cell)}
                for cell, column in zip(row.cells, table.columns, strict=True)
            ],
        }
        for heading, row in table.grouped_rows()
    ]
    return render(
        "tables/table.html",
        labels=table.labels,
        shared_headings=table.shared_headings,
        headings=[(column.heading, note_marks(column)) for column in table.columns],
        rows=rows,
        notes=list(table.numbered_notes()),
    )
