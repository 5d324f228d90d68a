"""A table for the terminal: intervals under their figures; what is too wide goes on below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from wardround.reporting.tables.table import Cell, Column, Row, Table, interval_of, note_marks, overs, value_of

GAP = "  "
NARROWEST = 60


def as_text(table: Table, width: int = 120) -> str:
    """The table in lines of at most `width`, its columns in as many blocks as that needs, then its notes."""
    width = max(width, NARROWEST)
    blocks = ["\n".join(_block(block)) for block in _blocks(table, width)]
    return "\n\n".join(["\n".join(wrap(table.title, width)), *blocks, *_notes(table, width)])


def _notes(table: Table, width: int) -> list[str]:
    lines: list[str] = []
    for mark, note in table.numbered_notes():
        head = f"[{mark}] " if mark else ""
        lines += wrap(note, width, initial_indent=head, subsequent_indent=" " * len(head))
    return ["\n".join(lines)] if lines else []


def _blocks(table: Table, width: int) -> list[Table]:
    """The table cut into parts that fit; each has the rows' names again. Columns under one heading stay together."""
    names = sum(max(map(len, texts)) + len(GAP) for texts in zip(table.labels, *_labels(table.rows), strict=True))
    needed = [_width(table, place) + len(GAP) for place in range(len(table.columns))]
    groups, place = [], 0
    for _, many in overs(table.columns) or [("", 1)] * len(table.columns):
        whole = range(place, place + many)
        fits = names + sum(needed[each] for each in whole) <= width
        groups += [whole] if fits else [range(each, each + 1) for each in whole]
        place += many
    cuts, room = [0], width - names
    for group in groups:
        size = sum(needed[each] for each in group)
        if room < size and group.start > cuts[-1]:
            cuts.append(group.start)
            room = width - names
        room -= size
    ends = [*cuts[1:], len(table.columns)]
    return [_part(table, start, end) for start, end in zip(cuts, ends, strict=True)]


def _part(table: Table, start: int, end: int) -> Table:
    rows = [replace(row, cells=row.cells[start:end]) for row in table.rows]
    return replace(table, columns=table.columns[start:end], rows=rows)


def _labels(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    return [row.shown_labels for row in rows]


def _width(table: Table, place: int) -> int:
    column = table.columns[place]
    texts = [_marked(column.heading, column)]
    for row in table.rows:
        texts += [_figure(table, row, place), interval_of(row.cells[place], column)]
    return max(map(len, texts))


def _figure(table: Table, row: Row, place: int) -> str:
    cell = row.cells[place]
    return _marked(value_of(cell, table.columns[place]), cell)


def _marked(text: str, noting: Cell | Column) -> str:
    marks = note_marks(noting)
    return f"{text} [{marks}]" if marks else text


def _block(table: Table) -> list[str]:
    names = [max(map(len, texts)) for texts in zip(table.labels, *_labels(table.rows), strict=True)]
    widths = [_width(table, place) for place in range(len(table.columns))]
    spans = overs(table.columns)
    place = 0
    for over, many in spans:  # a shared heading that is wider than its columns widens the last
        spare = len(over) - sum(widths[place : place + many]) - len(GAP) * (many - 1)
        widths[place + many - 1] += max(0, spare)
        place += many

    def line(labels: Sequence[str], cells: Sequence[str]) -> str:
        left = [text.ljust(width) for text, width in zip(labels, names, strict=True)]
        aligned = [
            text.rjust(width) if column.unit != "text" else text.ljust(width)
            for text, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        return GAP.join([*left, *aligned]).rstrip()

    head, place = [], 0
    if spans:
        texts = []
        for over, many in spans:
            texts.append(over.center(sum(widths[place : place + many]) + len(GAP) * (many - 1)))
            place += many
        head.append(GAP.join([" " * width for width in names] + texts).rstrip())
    head.append(line(table.labels, [_marked(column.heading, column) for column in table.columns]))
    rule = "-" * max(map(len, head))
    lines = [*head, rule]
    for before, row in zip([None, *table.rows], table.rows, strict=False):
        if before is not None and row.published and not before.published:
            lines.append(rule)
        lines.append(line(row.shown_labels, [_figure(table, row, place) for place in range(len(table.columns))]))
        under = [interval_of(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        if any(under):
            lines.append(line([""] * len(names), under))
    return lines
