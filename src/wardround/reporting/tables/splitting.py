"""Splits a table that is too wide into parts that fit, each with the row labels."""

from collections.abc import Sequence
from dataclasses import replace

from wardround.reporting.tables.table import Cell, Table


def split_columns(table: Table, label_width: float, widths: Sequence[float], width: float) -> list[Table]:
    """Parts that fit the width; columns under one heading stay together if they fit.

    A part leaves out published rows that have no figure in it.
    """
    groups, start = [], 0
    for _, span in table.shared_headings or [("", 1)] * len(table.columns):
        group = range(start, start + span)
        fits = label_width + sum(widths[index] for index in group) <= width
        groups += [group] if fits else [range(index, index + 1) for index in group]
        start += span
    cuts, free = [0], width - label_width
    for group in groups:
        group_width = sum(widths[index] for index in group)
        if free < group_width and group.start > cuts[-1]:
            cuts.append(group.start)
            free = width - label_width
        free -= group_width
    ends = [*cuts[1:], len(table.columns)]
    return [_part(table, start, end) for start, end in zip(cuts, ends, strict=True)]


def _part(table: Table, start: int, end: int) -> Table:
    rows = [replace(row, cells=row.cells[start:end]) for row in table.rows]
    if end - start < len(table.columns):
        rows = [row for row in rows if not row.published or any(cell != Cell() for cell in row.cells)]
    return replace(table, columns=table.columns[start:end], rows=rows)
