"""A table as CSV: unrounded figures (fractions), each with its interval, n, and unparsed and refused rates."""

import csv
import io

from wardround.core.text import safe_row
from wardround.reporting.tables.table import PUBLISHED, Table

PARTS = ("value", "low", "high", "n", "clusters", "unparsed", "refused")


def as_csv(table: Table) -> str:
    """One line per row. `source` is `run` or `published`, and what else is remarked on it; `group` if rows have one."""
    headings = [f"{column.over} {column.heading}".strip() for column in table.columns]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figure_names = [heading if part == "value" else f"{heading} {part}" for heading in headings for part in PARTS]
    has_groups = any(row.group for row in table.rows)
    writer.writerow(safe_row(["source", *["group"] * has_groups, *table.labels, *figure_names]))
    for row in table.rows:
        source = PUBLISHED if row.published else ", ".join(filter(None, ["run", row.remark]))
        figures = [getattr(cell, part) for cell in row.cells for part in PARTS]
        labels = [source, *[row.group] * has_groups, *row.labels]
        writer.writerow(safe_row([*labels, *("" if figure is None else figure for figure in figures)]))
    return out.getvalue()
