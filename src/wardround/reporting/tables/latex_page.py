"""How a table fits a LaTeX page: widths of texts, and the size, the columns and the rows of each part.

Widths are those of Computer Modern Roman, the page is that of the class `article` at 10 pt, our choice: a class with
wider text has room to spare. A table that is too wide puts intervals under their figures, then shrinks to
\\footnotesize, then is split by columns; one that is too high is split by rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from wardround.reporting.numbers import MINUS
from wardround.reporting.tables.splitting import WidthOf, split_columns
from wardround.reporting.tables.table import Cell, Column, Table, TableRow, note_marks, shared_headings

TEXT_WIDTH, TEXT_HEIGHT = 345.0, 550.0  # points
COLUMN_GAP = 12.0  # twice \tabcolsep
MAX_LABEL, MAX_TEXT, MAX_HEADING = 130.0, 120.0, 62.0  # points at 10 pt, above which a text is broken into lines
MIN_SHARED_HEADING = 36.0  # points: in narrower columns a shared heading would have too many lines
INTERVAL_SIZE = 0.797  # \scriptsize: small sizes of the font have wider letters
BOLD = 1.18
HEAD_HEIGHT = 70.0  # caption and rules
WIDTHS = {
    character: width / 1000
    for width, characters in {
        278: "!',.:;[]_`il|",
        306: "fj",
        333: " -",
        361: "I",
        389: "()t",
        392: "r",
        394: "s",
        444: "cez",
        472: "?",
        500: '"$*/0123456789\\^ago{}~–',
        514: "J",
        528: "kqvxy",
        556: "Sbdhnpu",
        611: "Z",
        625: "L",
        653: "F",
        681: "EP",
        708: "B",
        722: "CTw",
        736: "R",
        750: "AHNUVXY",
        764: "D",
        778: f"&+=<>@KOQ≥≤{MINUS}",
        785: "G",
        833: "#%mΔ",
        917: "M",
        1028: "W",
    }.items()
    for character in characters
}
UNKNOWN = 0.8  # em: accented letters and other scripts


@dataclass(frozen=True)
class FontSize:
    """A size of LaTeX: its command, the width of its letters as a share of that at 10 pt, and a line in points."""

    command: str
    scale: float
    line: float


NORMAL, SMALL, FOOTNOTE = (
    FontSize("", 1.0, 12.0),
    FontSize(r"\small", 0.928, 11.0),
    FontSize(r"\footnotesize", 0.85, 9.5),
)


@dataclass(frozen=True)
class PageLayout:
    """The parts of a table in one size; `stacked` puts intervals on lines of their own."""

    size: FontSize
    stacked: bool
    parts: list[Table]
    notes_apart: bool  # on a page of their own, because they do not fit below the last part


def text_width(text: str) -> float:
    """The width of a text at 10 pt, in points."""
    return 10 * sum(WIDTHS.get(character, UNKNOWN) for character in text)


def break_lines(text: str, width: float) -> list[str]:
    """The text in lines of at most this width, as far as its words allow."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def page_layout(table: Table) -> PageLayout:
    """The largest size in which the table fits the page in one part; else parts in the smallest."""
    size, stacked, parts = FOOTNOTE, True, [table]
    for stacked, size in ((False, NORMAL), (True, NORMAL), (True, SMALL), (True, FOOTNOTE)):
        if part_width(table, size, stacked) <= TEXT_WIDTH:
            break
    else:
        parts = split_columns(table, _width_of(table, size, stacked), TEXT_WIDTH)
    parts = [chunk for part in parts for chunk in _split_rows(part, size, stacked)]
    notes = sum(ceil(text_width(note) * FOOTNOTE.scale / TEXT_WIDTH) * FOOTNOTE.line + 3 for note in table.notes)
    return PageLayout(size, stacked, parts, part_height(parts[-1], size, stacked) + notes > TEXT_HEIGHT)


def part_width(table: Table, size: FontSize, stacked: bool) -> float:
    """The width of a table in points."""
    return _width_of(table, size, stacked)(0, len(table.columns))


def part_height(table: Table, size: FontSize, stacked: bool) -> float:
    """The height of a table with its caption, without notes, in points."""
    headings = max((len(break_lines(column.heading, MAX_HEADING)) for column in table.columns), default=1)
    headings += max((len(lines) for lines, _ in shared_heading_lines(table, size, stacked)), default=0)
    lines = headings + sum(_row_lines(table, row, stacked) for row in table.rows)
    lines += sum(bool(heading) for heading, _ in table.grouped_rows())
    return HEAD_HEIGHT + size.line * lines


def shared_heading_lines(table: Table, size: FontSize, stacked: bool) -> list[tuple[list[str], int]]:
    """Each shared heading in lines that fit its columns, with the number of these."""
    widths = [_column_width(table, index, size, stacked) for index in range(len(table.columns))]
    return [(lines, span) for lines, span, _ in _over_columns(table.columns, widths, size)]


def _over_columns(
    columns: Sequence[Column], widths: Sequence[float], size: FontSize
) -> Iterator[tuple[list[str], int, float]]:
    """The lines of each shared heading, the columns that it spans, and by how much it widens them."""
    start = 0
    for heading, span in shared_headings(columns):
        free = sum(widths[start : start + span]) - COLUMN_GAP
        lines = break_lines(heading, max(free, MIN_SHARED_HEADING) / size.scale)
        yield lines, span, max(0.0, max(map(text_width, lines)) * size.scale - free)
        start += span


def _width_of(table: Table, size: FontSize, stacked: bool) -> WidthOf:
    labels = _label_width(table, size)
    widths = [_column_width(table, index, size, stacked) for index in range(len(table.columns))]
    groups = BOLD * size.scale * max((text_width(row.group) for row in table.rows), default=0.0) + COLUMN_GAP

    def width(start: int, end: int) -> float:
        extra = sum(extra for _, _, extra in _over_columns(table.columns[start:end], widths[start:end], size))
        return max(groups, labels + sum(widths[start:end]) + extra)

    return width


def _split_rows(table: Table, size: FontSize, stacked: bool) -> list[Table]:
    parts: list[list[TableRow]] = [[]]
    for row in table.rows:
        longer = replace(table, rows=[*parts[-1], row])
        if parts[-1] and part_height(longer, size, stacked) > TEXT_HEIGHT:
            parts.append([])
        parts[-1].append(row)
    return [replace(table, rows=rows) for rows in parts]


def _row_lines(table: Table, row: TableRow, stacked: bool) -> int:
    labels = max(len(break_lines(label, MAX_LABEL)) for label in row.printed_labels)
    cells = list(zip(table.columns, row.cells, strict=True))
    texts = max((len(break_lines(column.cell_text(cell), MAX_TEXT)) for column, cell in cells), default=1)
    has_intervals = any(column.interval_text(cell) for column, cell in cells)
    return max(labels, texts) + (stacked and has_intervals)


def _label_width(table: Table, size: FontSize) -> float:
    columns = zip(table.labels, *(row.printed_labels for row in table.rows), strict=True)
    return sum(_widest(texts, MAX_LABEL) * size.scale + COLUMN_GAP for texts in columns)


def _column_width(table: Table, index: int, size: FontSize, stacked: bool) -> float:
    column = table.columns[index]
    values, both = [_widest([column.heading], MAX_HEADING) + _marks_width(column)], [0.0]
    for cell in (row.cells[index] for row in table.rows):
        value = _widest([column.cell_text(cell)], MAX_TEXT) + _marks_width(cell)
        interval = INTERVAL_SIZE / size.scale * text_width(column.interval_text(cell))
        values += [value, interval]
        both.append(value + text_width(" ") + interval if interval else value)
    return max(values if stacked else [*values, *both]) * size.scale + COLUMN_GAP


def _widest(texts: Sequence[str], limit: float) -> float:
    return max(text_width(line) for text in texts for line in break_lines(text, limit))


def _marks_width(part: Cell | Column) -> float:
    return INTERVAL_SIZE * text_width(note_marks(part))
