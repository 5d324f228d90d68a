"""Table: rows of figures with their intervals, independent of the output format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from wardround.reporting.numbers import number

Unit = Literal["percent", "fraction", "count", "text"]
NO_VALUE = "–"
PUBLISHED = "published"


@dataclass(frozen=True)
class Column:
    """One column: its heading, the heading it shares with its neighbours (`over`), and its number format."""

    heading: str
    over: str = ""
    unit: Unit = "percent"
    decimals: int = 1
    notes: tuple[int, ...] = ()  # indices of the table's notes that apply to the whole column

    def format(self, value: float) -> str:
        return number(100 * value if self.unit == "percent" else value, 0 if self.unit == "count" else self.decimals)

    def cell_text(self, cell: Cell) -> str:
        """The formatted value, or the cell's text if it has none."""
        return cell.text if cell.value is None else self.format(cell.value)

    def interval_text(self, cell: Cell) -> str:
        """The interval in brackets; empty if there is none."""
        if cell.value is None or cell.low is None or cell.high is None:
            return ""
        return f"[{self.format(cell.low)}, {self.format(cell.high)}]"


@dataclass(frozen=True)
class Cell:
    """One figure; percentages are fractions. `text` is printed if there is no value."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    clusters: int | None = None
    unparsed: float | None = None
    refused: float | None = None
    text: str = NO_VALUE
    notes: tuple[int, ...] = ()  # indices of the table's notes that apply to the cell


@dataclass(frozen=True)
class TableRow:
    """`published` rows are a paper's figures, not this run's; `remark` says what else sets a row apart.

    `group` is the heading that a row stands under, with its neighbours of the same group; `is_average` rows are means
    over candidates.
    """

    labels: tuple[str, ...]
    cells: list[Cell]
    published: bool = False
    remark: str = ""
    group: str = ""
    is_average: bool = False

    @property
    def remarks(self) -> str:
        """What is printed after the first label: `published`, or the row's own remark."""
        return PUBLISHED if self.published else self.remark

    @property
    def printed_labels(self) -> tuple[str, ...]:
        return (f"{self.labels[0]} ({self.remarks})", *self.labels[1:]) if self.remarks else self.labels


@dataclass(frozen=True)
class Table:
    """`labels` are the headings of the row labels. Notes that cells refer to come first."""

    title: str
    labels: tuple[str, ...]
    columns: list[Column]
    rows: list[TableRow]
    notes: list[str] = field(default_factory=list)

    @property
    def referenced_notes(self) -> set[int]:
        """Indices of the notes that a heading or a cell refers to: only these are numbered in print."""
        parts: list[Column | Cell] = [*self.columns, *(cell for row in self.rows for cell in row.cells)]
        return {note for part in parts for note in part.notes}

    @property
    def shared_headings(self) -> list[tuple[str, int]]:
        """The shared headings with the number of columns that they span; empty if there are none."""
        return shared_headings(self.columns)

    def grouped_rows(self) -> Iterator[tuple[str, TableRow]]:
        """Every row with the heading that is printed above it; empty for all but the first row of a group."""
        previous = ""
        for row in self.rows:
            yield (row.group if row.group != previous else ""), row
            previous = row.group

    def numbered_notes(self) -> Iterator[tuple[str, str]]:
        """Every note with its printed number, empty if nothing refers to it."""
        for index, note in enumerate(self.notes):
            yield (str(index + 1) if index in self.referenced_notes else ""), note

    def _repr_html_(self) -> str:
        from wardround.reporting.tables.html import as_html  # it needs this module

        return as_html(self)


def note_marks(part: Cell | Column) -> str:
    """The printed numbers of the notes that apply: `1,2` for the first two."""
    return ",".join(str(note + 1) for note in part.notes)


def shared_headings(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """The headings that neighbours share with the number of columns that each spans; empty if there are none."""
    if not any(column.over for column in columns):
        return []
    return [(over, len(list(group))) for over, group in groupby(columns, key=lambda column: column.over)]
