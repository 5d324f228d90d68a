"""Grids: figures crossed with candidates, each cell with its interval, its unparsed rate and its n."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from wardround.reporting.run_files import Measure, RunFolder
from wardround.reporting.tables.forest import said, scale_of, track


@dataclass(frozen=True)
class Cell:
    """`note` stands where a value or its interval cannot."""

    line: Measure | None
    value: str | None
    interval: str | None
    note: str | None
    track: Markup
    cases: str | None  # the address of the cases behind it


@dataclass(frozen=True)
class GridRow:
    label: str
    meaning: str
    cells: list[Cell]


@dataclass(frozen=True)
class Grid:
    title: str
    columns: Sequence[str]
    rows: list[GridRow]

    @property
    def with_interval(self) -> int:
        """How many rows have an interval for at least one candidate."""
        return sum(any(cell.interval for cell in row.cells) for row in self.rows)


def grid(
    run: RunFolder,
    title: str,
    columns: Sequence[str],
    rows: Iterable[tuple[str, str, Sequence[Measure | None]]],
    *,
    tracks: bool = False,
    chance: float | None = None,
) -> Grid:
    """A grid of rows (label, meaning, a line per column), drawn too if `tracks`."""
    built = []
    for label, meaning, lines in rows:
        measure = next((line.measure for line in lines if line is not None), None)
        cells = [_cell(run, line, tracks, chance) for line in lines]
        for place, (line, column) in enumerate(zip(lines, columns, strict=True)):
            if line is None and run.not_of_people(measure, column):
                cells[place] = replace(cells[place], note="not measured")
        built.append(GridRow(label, meaning, cells))
    return Grid(title, columns, built)


def _cell(run: RunFolder, line: Measure | None, drawn: bool, chance: float | None) -> Cell:
    figure = track(line.candidate, line, scale_of(line.measure, chance)) if drawn and line is not None else Markup("")
    return Cell(line, *said(line), figure, run.behind(line))
