"""A table in LaTeX; the document needs only the package booktabs."""

from collections.abc import Sequence

from wardround.reporting.numbers import MINUS
from wardround.reporting.tables.latex_page import (
    MAX_HEADING,
    MAX_LABEL,
    MAX_TEXT,
    PageLayout,
    break_lines,
    page_layout,
    shared_heading_lines,
)
from wardround.reporting.tables.table import Cell, Column, Table, TableRow, note_marks

REPLACEMENTS = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    MINUS: r"$-$",
    "–": "--",
    "Δ": r"$\Delta$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}


def as_latex(table: Table) -> str:
    """Floating tables that fit the page: shared headings over their columns, small intervals, notes below the last."""
    layout = page_layout(table)
    lines, count = ["% needs \\usepackage{booktabs}"], len(layout.parts)
    for number, part in enumerate(layout.parts, 1):
        caption = f"{table.title} ({number} of {count})" if count > 1 else table.title
        lines += [r"\begin{table}", r"\centering", rf"\caption{{{_escape(caption)}}}"]
        lines += [*filter(None, [layout.size.command]), *_tabular_lines(part, layout)]
        if number == count:
            lines += [r"\end{table}", r"\begin{table}"] if layout.notes_apart else []
            lines += _note_lines(table)
        lines.append(r"\end{table}")
    return "\n".join([*lines, ""])


def _tabular_lines(table: Table, layout: PageLayout) -> list[str]:
    alignment = "l" * len(table.labels) + "".join("l" if column.unit == "text" else "r" for column in table.columns)
    headings = [_broken(column.heading, MAX_HEADING, "r") + _marks(column) for column in table.columns]
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_heading_lines(table, layout),
        _line([*map(_escape, table.labels), *headings]),
        r"\midrule",
    ]
    previous, span = None, len(table.labels) + len(table.columns)
    for heading, row in table.grouped_rows():
        if previous is not None and (heading or (row.published and not previous.published and not row.group)):
            lines.append(r"\midrule")
        if heading:
            lines.append(rf"\multicolumn{{{span}}}{{l}}{{\textbf{{{_escape(heading)}}}}} \\")
        previous = row
        lines.append(_line([*_labels(row), *_cells(table, row, layout.stacked)]))
        intervals = [_small_interval(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        if layout.stacked and any(intervals):
            lines.append(_line([*[""] * len(table.labels), *intervals]))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _note_lines(table: Table) -> list[str]:
    lines = []
    for mark, note in table.numbered_notes():
        head = rf"$^{{{mark}}}$" if mark else ""
        lines += ["", rf"\smallskip{{\footnotesize {head}{_escape(note)}}}"]
    return lines


def _heading_lines(table: Table, layout: PageLayout) -> list[str]:
    headings = shared_heading_lines(table, layout.size, layout.stacked)
    if not headings:
        return []
    cells, rules, start = [""] * len(table.labels), [], len(table.labels) + 1
    for lines, span in headings:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{_stacked(lines, 'c')}}}")
        if any(lines):
            rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    return [_line(cells), "".join(rules)]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"


def _labels(row: TableRow) -> list[str]:
    texts = [_broken(label, MAX_LABEL, "l") for label in row.printed_labels]
    return [rf"\textit{{{text}}}" if row.published and text else text for text in texts]


def _cells(table: Table, row: TableRow, stacked: bool) -> list[str]:
    texts = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        small = "" if stacked else _small_interval(cell, column)
        text = _broken(column.cell_text(cell), MAX_TEXT, "l") + _marks(cell)
        texts.append(f"{text} {small}" if small else text)
    return texts


def _small_interval(cell: Cell, column: Column) -> str:
    interval = column.interval_text(cell)
    return rf"{{\scriptsize {_escape(interval)}}}" if interval else ""


def _broken(text: str, width: float, side: str) -> str:
    """The text, in lines below each other if it is too wide."""
    return _stacked(break_lines(text, width), side)


def _stacked(lines: list[str], side: str) -> str:
    stack = r" \\ ".join(map(_escape, lines))
    return stack if len(lines) == 1 else rf"\shortstack[{side}]{{{stack}}}"


def _marks(part: Cell | Column) -> str:
    marks = note_marks(part)
    return rf"$^{{{marks}}}$" if marks else ""


def _escape(text: str) -> str:
    return "".join(REPLACEMENTS.get(character, character) for character in " ".join(text.split()))
