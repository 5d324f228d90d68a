"""Table: rows of figures with their intervals, as a paper would print them, in whatever format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from wardround.reporting.numbers import number

Unit = Literal["percent", "fraction", "count", "text"]
NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """One column: its heading, the heading that it shares with its neighbours, and how its figures are printed."""

    heading: str
    over: str = ""
    unit: Unit = "percent"
    decimals: int = 1
    notes: tuple[int, ...] = ()  # the numbers, from 0, of the table's notes that belong to all of it

    def printed(self, value: float) -> str:
        return number(100 * value if self.unit == "percent" else value, 0 if self.unit == "count" else self.decimals)


@dataclass(frozen=True)
class Cell:
    """One figure; percentages are kept as fractions. `said` stands where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    clusters: int | None = None
    unparsed: float | None = None
    said: str = NOTHING
    notes: tuple[int, ...] = ()  # the numbers, from 0, of the table's notes that belong to it


@dataclass(frozen=True)
class Row:
    """`published` rows are a paper's figures, not this run's."""

    labels: tuple[str, ...]
    cells: list[Cell]
    published: bool = False

    @property
    def shown_labels(self) -> tuple[str, ...]:
        return (f"{self.labels[0]} (published)", *self.labels[1:]) if self.published else self.labels


@dataclass(frozen=True)
class Table:
    """`labels` are the headings of what names a row. The first notes are those that cells refer to."""

    title: str
    labels: tuple[str, ...]
    columns: list[Column]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    @property
    def noted(self) -> set[int]:
        """The numbers of the notes that a heading or a cell refers to: only these are numbered in print."""
        noting: list[Column | Cell] = [*self.columns, *(cell for row in self.rows for cell in row.cells)]
        return {note for each in noting for note in each.notes}

    def numbered_notes(self) -> Iterator[tuple[str, str]]:
        """Every note with its number as printed, or with none."""
        for place, note in enumerate(self.notes):
            yield (str(place + 1) if place in self.noted else ""), note


def value_of(cell: Cell, column: Column) -> str:
    """The figure as printed, or what stands in its place."""
    return cell.said if cell.value is None else column.printed(cell.value)


def interval_of(cell: Cell, column: Column) -> str:
    """Its interval in brackets; empty where there is none."""
    if cell.value is None or cell.low is None or cell.high is None:
        return ""
    return f"[{column.printed(cell.low)}, {column.printed(cell.high)}]"


def note_marks(noting: Cell | Column) -> str:
    """1,2 for what the first two notes belong to."""
    return ",".join(str(note + 1) for note in noting.notes)


def overs(columns: list[Column]) -> list[tuple[str, int]]:
    """The shared headings with the number of columns each spans; empty if there are none."""
    if not any(column.over for column in columns):
        return []
    return [(over, len(list(group))) for over, group in groupby(columns, key=lambda column: column.over)]
