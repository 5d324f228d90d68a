"""A table in LaTeX; it needs the package booktabs and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.reporting.numbers import MINUS
from wardround.reporting.tables.table import Cell, Column, Row, Table, interval_of, note_marks, overs, value_of

SIGNS = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
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
    """A floating table: shared headings over their columns, intervals small behind their figures, notes below."""
    left = len(table.labels)
    shape = "l" * left + "".join("l" if column.unit == "text" else "r" for column in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(table.title)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        *_shared(table.columns, left),
        _line([*map(_escaped, table.labels), *(_marked(column.heading, column) for column in table.columns)]),
        r"\midrule",
    ]
    for before, row in zip([None, *table.rows], table.rows, strict=False):
        if before is not None and row.published and not before.published:
            lines.append(r"\midrule")
        lines.append(_line([*_labels(row), *_cells(table, row)]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    for mark, note in table.numbered_notes():
        head = rf"$^{{{mark}}}$" if mark else ""
        lines += ["", rf"\smallskip{{\footnotesize {head}{_escaped(note)}}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def _shared(columns: list[Column], left: int) -> list[str]:
    spans = overs(columns)
    if not spans:
        return []
    cells, rules, place = [""] * left, [], left + 1
    for over, many in spans:
        cells.append(rf"\multicolumn{{{many}}}{{c}}{{{_escaped(over)}}}")
        if over:
            rules.append(rf"\cmidrule(lr){{{place}-{place + many - 1}}}")
        place += many
    return [_line(cells), "".join(rules)]


def _line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"


def _labels(row: Row) -> list[str]:
    texts = [_escaped(label) for label in row.shown_labels]
    return [rf"\textit{{{text}}}" if row.published and text else text for text in texts]


def _cells(table: Table, row: Row) -> list[str]:
    texts = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        interval = interval_of(cell, column)
        small = rf" {{\scriptsize {_escaped(interval)}}}" if interval else ""
        texts.append(_marked(value_of(cell, column), cell) + small)
    return texts


def _marked(text: str, noting: Cell | Column) -> str:
    marks = note_marks(noting)
    return _escaped(text) + (rf"$^{{{marks}}}$" if marks else "")


def _escaped(text: str) -> str:
    return "".join(SIGNS.get(sign, sign) for sign in " ".join(text.split()))
