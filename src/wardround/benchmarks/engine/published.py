"""The papers' own figures: each table as printed, with a note at every figure that does not add up."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from wardround.benchmarks.engine.folders import BENCHMARKS, FromToml, folder_of, named, read_toml


class About(FromToml):
    """What a table is: its rows are named by one column; `kind` says where the figures come from."""

    title: str
    rows: str
    kind: Literal["printed", "digitised", "estimated"] = "printed"
    unit: Literal["percent", "fraction", "count", "mixed"]


class Note(FromToml):
    """Something to know about a table, one of its columns, or one figure (row and column)."""

    table: str
    note: str
    row: str | None = None
    column: str | None = None


class Notes(FromToml):
    source: str
    tables: dict[str, About]
    notes: list[Note]


@dataclass(frozen=True)
class Published:
    """One table of a paper. `cells` are the texts as printed, row by row."""

    name: str
    source: str
    about: About
    columns: list[str]
    cells: list[dict[str, str]]
    notes: list[Note]

    @property
    def labels(self) -> list[str]:
        """The names of its rows, in order."""
        return [cell[self.about.rows] for cell in self.cells]

    def value(self, row: str, column: str) -> float | None:
        """One figure as a number; None where nothing is printed or it is no number."""
        return number(next(cells for cells in self.cells if cells[self.about.rows] == row)[column])

    def values(self, column: str) -> list[float | None]:
        return [number(cells[column]) for cells in self.cells]

    def notes_at(self, row: str | None, column: str) -> list[int]:
        """The numbers, from 0, of the notes on one figure; with no row, of those on the whole column."""
        return [place for place, note in enumerate(self.notes) if (note.row, note.column) == (row, column)]

    def told(self) -> dict[str, Any]:
        """As JSON: figures are numbers, what is not printed is null."""
        rows = [{name: _typed(text) for name, text in cells.items()} for cells in self.cells]
        notes = [note.model_dump(exclude={"table"}) for note in self.notes]
        about = self.about.model_dump()
        return {
            "table": self.name,
            **about,
            "source": self.source,
            "columns": self.columns,
            "data": rows,
            "notes": notes,
        }


def number(text: str) -> float | None:
    """A printed figure as a number."""
    try:
        return float(text)
    except ValueError:
        return None


def _typed(text: str) -> float | str | None:
    if text == "":
        return None
    found = number(text)
    return text if found is None else found


def names() -> list[str]:
    """Every published table, as a person types it: `cure/table1`."""
    return [f"{benchmark}/{table}" for benchmark in BENCHMARKS for table in _notes(benchmark).tables]


def load(name: str) -> Published:
    """One table of one paper by its name, `medq-deg/table6`."""
    name = named(name, names(), "published table", "wardround published")
    benchmark, _, table = name.partition("/")
    told = _notes(benchmark)
    with (folder_of(benchmark) / "published" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        cells = list(reader)
        columns = list(reader.fieldnames or ())
    return Published(name, told.source, told.tables[table], columns, cells, list(_of_table(told, table)))


def titles() -> Mapping[str, About]:
    """What each table is, without its figures."""
    return {name: _notes(name.partition("/")[0]).tables[name.partition("/")[2]] for name in names()}


def _of_table(told: Notes, table: str) -> Iterator[Note]:
    return (note for note in told.notes if note.table == table)


@cache
def _notes(benchmark: str) -> Notes:
    return read_toml(folder_of(benchmark) / "published" / "notes.toml", Notes)
