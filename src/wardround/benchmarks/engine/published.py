"""The papers' own figures: each table as printed, with a note at every figure that does not add up."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from wardround.benchmarks.engine.benchmark import (
    Benchmark,
    benchmark_at,
    benchmarks,
    is_path,
    resolve_name,
)
from wardround.core.errors import BadInput
from wardround.core.toml_table import StrictTable, parse_table, read_toml
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

FOLDER, NOTES = "published", "notes.toml"
GROUP = "group"  # column of the heading that a row stands under
KINDS = {
    "printed": "as printed in",
    "digitised": "read off a figure of",
    "estimated": "estimated from what was published with",
}


class PublishedTableInfo(StrictTable):
    """A table's title, the column that names its rows, and where its figures come from (`kind`)."""

    title: str
    rows: str
    kind: Literal["printed", "digitised", "estimated"] = "printed"
    unit: Literal["percent", "fraction", "count", "mixed"]


class PublishedNote(StrictTable):
    """A remark on a table, one of its columns, or one figure (row and column)."""

    table: str
    note: str
    row: str | None = None
    column: str | None = None


class PublishedNotes(StrictTable):
    """published/notes.toml of a benchmark."""

    source: str
    tables: dict[str, PublishedTableInfo]
    notes: list[PublishedNote] = Field(default_factory=list)


@dataclass(frozen=True)
class PublishedTable:
    """One table of a paper. `cells` are the texts as printed, row by row."""

    name: str
    source: str
    info: PublishedTableInfo
    columns: list[str]
    cells: list[dict[str, str]]
    notes: list[PublishedNote]

    @property
    def labels(self) -> list[str]:
        """The names of its rows, in order."""
        return [row[self.info.rows] for row in self.cells]

    @property
    def groups(self) -> dict[str, str]:
        """The heading that each row stands under in the paper, where the table has groups."""
        return {row[self.info.rows]: row[GROUP] for row in self.cells} if GROUP in self.columns else {}

    def value(self, row: str, column: str) -> float | None:
        """One figure as a number; None if nothing is printed, or text."""
        return parse_number(next(cells for cells in self.cells if cells[self.info.rows] == row)[column])

    def values(self, column: str) -> list[float | None]:
        return [parse_number(row[column]) for row in self.cells]

    def notes_at(self, row: str | None, column: str) -> list[int]:
        """The numbers, from 0, of the notes on one figure; with no row, of those on the whole column."""
        return [number for number, note in enumerate(self.notes) if (note.row, note.column) == (row, column)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: figures are numbers, empty cells are null."""
        return {
            "table": self.name,
            **self.info.model_dump(),
            "source": self.source,
            "columns": self.columns,
            "data": [{column: _parse_cell(text) for column, text in row.items()} for row in self.cells],
            "notes": [note.model_dump(exclude={"table"}) for note in self.notes],
        }


def parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _parse_cell(text: str) -> float | str | None:
    number = parse_number(text)
    return text or None if number is None else number


def published_names() -> list[str]:
    """Every published table, as users type it: `cure/table1`."""
    return list(published_table_info())


def published_table_info() -> Mapping[str, PublishedTableInfo]:
    """The descriptions of all published tables by name."""
    return {
        f"{name}/{table}": info
        for name, benchmark in benchmarks().items()
        for table, info in published_tables(benchmark).items()
    }


def load_published(name: str) -> PublishedTable:
    """A table by its name (`medq-deg/table6`) or by the path of its benchmark (`./my-benchmark/table1`)."""
    scope, _, table = name.rpartition("/")
    if is_path(name):
        benchmark = benchmark_at(Path(scope))
        tables = list(published_tables(benchmark))
        return published_table(benchmark, resolve_name(table, tables, "published table", f"ls {scope}/{FOLDER}"))
    scope, _, table = resolve_name(name, published_names(), "published table", "wardround published").partition("/")
    return published_table(benchmarks()[scope], table)


def published_tables(benchmark: Benchmark) -> Mapping[str, PublishedTableInfo]:
    """The descriptions of a benchmark's published tables; it may have none."""
    return _read_notes(benchmark).tables if (benchmark.folder / FOLDER / NOTES).is_file() else {}


def published_source(benchmark: Benchmark) -> str | None:
    """The paper of a benchmark, as its published tables name it; None if it has none."""
    return _read_notes(benchmark).source if (benchmark.folder / FOLDER / NOTES).is_file() else None


def published_table(benchmark: Benchmark, table: str) -> PublishedTable:
    """One table of a benchmark, read from published/TABLE.csv."""
    notes, file = _read_notes(benchmark), benchmark.folder / FOLDER / f"{table}.csv"
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            cells, columns = list(reader), list(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None
    info = notes.tables[table]
    if info.rows not in columns:
        message = f"{file.name} has no column {info.rows!r}; there are {', '.join(columns)}"
        raise BadInput(file.parent / NOTES, message, field=f"tables.{table}.rows")
    name = f"{benchmark.name}/{table}"
    return PublishedTable(name, notes.source, info, columns, cells, [n for n in notes.notes if n.table == table])


@cache
def _read_notes(benchmark: Benchmark) -> PublishedNotes:
    file = benchmark.folder / FOLDER / NOTES
    return parse_table(PublishedNotes, read_toml(file, "notes"), file)


def to_table(published: PublishedTable) -> Table:
    """A published table for printing: its source in the title, notes on a whole column at its heading."""
    info = published.info
    first = published.columns.index(info.rows) + 1
    labels, columns = published.columns[:first], published.columns[first:]
    return Table(
        title=f"{published.name}: {info.title} ({KINDS[info.kind]} {published.source})",
        labels=tuple(labels),
        columns=[_column(published, name) for name in columns],
        rows=[_row(published, cells, labels, columns) for cells in published.cells],
        notes=[note.note for note in published.notes],
    )


def _column(published: PublishedTable, name: str) -> Column:
    numeric = all(parse_number(cells[name]) is not None for cells in published.cells if cells[name])
    notes = tuple(published.notes_at(None, name))
    return Column(name.replace("_", " "), unit="percent" if numeric else "text", notes=notes)


def _row(published: PublishedTable, cells: dict[str, str], labels: list[str], columns: list[str]) -> TableRow:
    name = cells[published.info.rows]
    figures = [Cell(text=cells[column] or "–", notes=tuple(published.notes_at(name, column))) for column in columns]
    return TableRow(tuple(cells[label] for label in labels), figures)
