"""A table for the terminal: intervals under their figures, wide tables in blocks below each other."""

from collections.abc import Sequence
from textwrap import wrap

from wardround.reporting.tables.splitting import split_columns
from wardround.reporting.tables.table import Cell, Column, Table, TableRow, note_marks, shared_headings

GAP = "  "
MIN_WIDTH = 60


def as_text(table: Table, width: int = 120) -> str:
    """The title, the columns in as many blocks as `width` requires, and the notes."""
    width = max(width, MIN_WIDTH)
    blocks = ["\n".join(_block_lines(block)) for block in _split(table, width)]
    return "\n\n".join(["\n".join(wrap(table.title, width)), *blocks, *_note_block(table, width)])


def _note_block(table: Table, width: int) -> list[str]:
    lines: list[str] = []
    for mark, note in table.numbered_notes():
        head = f"[{mark}] " if mark else ""
        lines += wrap(note, width, initial_indent=head, subsequent_indent=" " * len(head))
    return ["\n".join(lines)] if lines else []


def _split(table: Table, width: int) -> list[Table]:
    """Parts that fit the width, each with all row labels; columns under one heading stay together if they fit."""
    label_width = sum(widest + len(GAP) for widest in _label_widths(table)) - len(GAP)
    widths = [_width(table, index) for index in range(len(table.columns))]

    def width_of(start: int, end: int) -> int:
        columns = table.columns[start:end]
        return label_width + sum(width + len(GAP) for width in _widened(widths[start:end], shared_headings(columns)))

    return split_columns(table, width_of, width)


def _widened(widths: list[int], headings: list[tuple[str, int]]) -> list[int]:
    """A shared heading that is wider than its columns widens the last."""
    widened, start = list(widths), 0
    for heading, span in headings:
        missing = len(heading) - sum(widths[start : start + span]) - len(GAP) * (span - 1)
        start += span
        widened[start - 1] += max(0, missing)
    return widened


def _label_widths(table: Table) -> list[int]:
    labels = [row.printed_labels for row in table.rows]
    return [max(map(len, texts)) for texts in zip(table.labels, *labels, strict=True)]


def _width(table: Table, index: int) -> int:
    column = table.columns[index]
    texts = [_with_marks(column.heading, column)]
    for row in table.rows:
        texts += [_value_text(table, row, index), column.interval_text(row.cells[index])]
    return max(map(len, texts))


def _value_text(table: Table, row: TableRow, index: int) -> str:
    cell = row.cells[index]
    return _with_marks(table.columns[index].cell_text(cell), cell)


def _with_marks(text: str, part: Cell | Column) -> str:
    marks = note_marks(part)
    return f"{text} [{marks}]" if marks else text


def _block_lines(table: Table) -> list[str]:
    label_widths = _label_widths(table)
    headings = table.shared_headings
    widths = _widened([_width(table, index) for index in range(len(table.columns))], headings)

    def line(labels: Sequence[str], cells: Sequence[str]) -> str:
        left = [text.ljust(width) for text, width in zip(labels, label_widths, strict=True)]
        aligned = [
            text.rjust(width) if column.unit != "text" else text.ljust(width)
            for text, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        return GAP.join([*left, *aligned]).rstrip()

    head, start = [], 0
    if headings:
        texts = []
        for heading, span in headings:
            texts.append(heading.center(sum(widths[start : start + span]) + len(GAP) * (span - 1)))
            start += span
        head.append(GAP.join([" " * width for width in label_widths] + texts).rstrip())
    head.append(line(table.labels, [_with_marks(column.heading, column) for column in table.columns]))
    rule = "-" * max(map(len, head))
    lines = [*head, rule]
    previous = None
    for heading, row in table.grouped_rows():
        if previous is not None and (heading or (row.published and not previous.published and not row.group)):
            lines.append(rule)
        lines += [heading] if heading else []
        previous = row
        lines.append(line(row.printed_labels, [_value_text(table, row, index) for index in range(len(table.columns))]))
        intervals = [column.interval_text(cell) for cell, column in zip(row.cells, table.columns, strict=True)]
        if any(intervals):
            lines.append(line([""] * len(label_widths), intervals))
    return lines
