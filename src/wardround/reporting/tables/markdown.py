"""A table in the Markdown of GitHub and Pandoc."""

from collections.abc import Sequence

from wardround.reporting.tables.table import Cell, Column, Table, TableRow, note_marks


def as_markdown(table: Table) -> str:
    """Title, pipe table, notes. Shared headings are put before each heading, as Markdown has one heading line."""
    headings = [_with_marks(f"{column.over} {column.heading}".strip(), column) for column in table.columns]
    rule = [":--"] * len(table.labels) + [":--" if column.unit == "text" else "--:" for column in table.columns]
    lines = [f"**{_escape(table.title)}**", "", _line([*map(_escape, table.labels), *headings]), _line(rule)]
    for heading, row in table.grouped_rows():
        lines += [_line([f"**{_escape(heading)}**", *[""] * (len(rule) - 1)])] if heading else []
        lines.append(_line([*_labels(row), *_cells(table, row)]))
    for mark, note in table.numbered_notes():
        lines += ["", f"<sup>{mark}</sup> {_escape(note)}" if mark else _escape(note)]
    return "\n".join([*lines, ""])


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _labels(row: TableRow) -> list[str]:
    texts = [_escape(label) for label in row.printed_labels]
    return [f"*{text}*" if row.published and text else text for text in texts]


def _cells(table: Table, row: TableRow) -> list[str]:
    texts = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        text = " ".join(filter(None, [column.cell_text(cell), column.interval_text(cell)]))
        texts.append(_with_marks(text, cell))
    return texts


def _with_marks(text: str, part: Cell | Column) -> str:
    marks = note_marks(part)
    return _escape(text) + (f"<sup>{marks}</sup>" if marks else "")


def _escape(text: str) -> str:
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
