"""A table in LaTeX; the document needs only the package booktabs."""

from collections.abc import Sequence

from wardround.reporting.numbers import MINUS
from wardround.reporting.tables.table import Cell, Column, Table, TableRow, note_marks

REPLACEMENTS = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    MINUS: r"$-$",
    "–": "--",
    "Δ": r"$\Delta$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}


def as_latex(table: Table) -> str:
    """A floating table: shared headings over their columns, small intervals after the figures, notes below."""
    alignment = "l" * len(table.labels) + "".join("l" if column.unit == "text" else "r" for column in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(table.title)}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_heading_lines(table),
        _line([*map(_escape, table.labels), *(_with_marks(column.heading, column) for column in table.columns)]),
        r"\midrule",
    ]
    for previous, row in zip([None, *table.rows], table.rows, strict=False):
        if previous is not None and row.published and not previous.published:
            lines.append(r"\midrule")
        lines.append(_line([*_labels(row), *_cells(table, row)]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    for mark, note in table.numbered_notes():
        head = rf"$^{{{mark}}}$" if mark else ""
        lines += ["", rf"\smallskip{{\footnotesize {head}{_escape(note)}}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def _heading_lines(table: Table) -> list[str]:
    if not table.shared_headings:
        return []
    cells, rules, start = [""] * len(table.labels), [], len(table.labels) + 1
    for heading, span in table.shared_headings:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{_escape(heading)}}}")
        if heading:
            rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    return [_line(cells), "".join(rules)]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"


def _labels(row: TableRow) -> list[str]:
    texts = [_escape(label) for label in row.printed_labels]
    return [rf"\textit{{{text}}}" if row.published and text else text for text in texts]


def _cells(table: Table, row: TableRow) -> list[str]:
    texts = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        interval = column.interval_text(cell)
        small = rf" {{\scriptsize {_escape(interval)}}}" if interval else ""
        texts.append(_with_marks(column.cell_text(cell), cell) + small)
    return texts


def _with_marks(text: str, part: Cell | Column) -> str:
    marks = note_marks(part)
    return _escape(text) + (rf"$^{{{marks}}}$" if marks else "")


def _escape(text: str) -> str:
    return "".join(REPLACEMENTS.get(character, character) for character in " ".join(text.split()))
