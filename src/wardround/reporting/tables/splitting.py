"""Splits a table that is too wide into parts that fit, each with the row labels."""

from collections.abc import Callable
from dataclasses import replace

from wardround.reporting.tables.table import Cell, Table

WidthOf = Callable[[int, int], float]  # of the part with the columns from one index up to another, with its labels


def split_columns(table: Table, width_of: WidthOf, width: float) -> list[Table]:
    """Parts that fit the width; columns under one heading stay together if they fit.

    A part leaves out published rows that have no figure in it.
    """
    groups, start = [], 0
    for _, span in table.shared_headings or [("", 1)] * len(table.columns):
        end = start + span
        groups += [(start, end)] if width_of(start, end) <= width else [(n, n + 1) for n in range(start, end)]
        start = end
    cuts = [0]
    for start, end in groups:
        if start > cuts[-1] and width_of(cuts[-1], end) > width:
            cuts.append(start)
    ends = [*cuts[1:], len(table.columns)]
    return [_part(table, start, end) for start, end in zip(cuts, ends, strict=True)]


def _part(table: Table, start: int, end: int) -> Table:
    rows = [replace(row, cells=row.cells[start:end]) for row in table.rows]
    if end - start < len(table.columns):
        rows = [row for row in rows if not row.published or any(cell != Cell() for cell in row.cells)]
    return replace(table, columns=table.columns[start:end], rows=rows)
