"""A table in Markdown, as GitHub and Pandoc read it."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.reporting.tables.table import Cell, Column, Row, Table, interval_of, note_marks, value_of


def as_markdown(table: Table) -> str:
    """Title, pipe table, notes. Markdown has one line of headings, so shared ones are put in front of each."""
    headings = [_marked(f"{column.over} {column.heading}".strip(), column) for column in table.columns]
    rule = [":--"] * len(table.labels) + [":--" if column.unit == "text" else "--:" for column in table.columns]
    lines = [f"**{_escaped(table.title)}**", "", _line([*map(_escaped, table.labels), *headings]), _line(rule)]
    lines += [_line([*_labels(row), *_cells(table, row)]) for row in table.rows]
    for mark, note in table.numbered_notes():
        lines += ["", f"<sup>{mark}</sup> {_escaped(note)}" if mark else _escaped(note)]
    return "\n".join([*lines, ""])


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _labels(row: Row) -> list[str]:
    texts = [_escaped(label) for label in row.shown_labels]
    return [f"*{text}*" if row.published and text else text for text in texts]


def _cells(table: Table, row: Row) -> list[str]:
    texts = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        text = " ".join(filter(None, [value_of(cell, column), interval_of(cell, column)]))
        texts.append(_marked(text, cell))
    return texts


def _marked(text: str, noting: Cell | Column) -> str:
    marks = note_marks(noting)
    return _escaped(text) + (f"<sup>{marks}</sup>" if marks else "")


def _escaped(text: str) -> str:
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
