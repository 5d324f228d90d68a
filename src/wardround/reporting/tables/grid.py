"""Grids: one column per candidate, each cell with value, interval, unparsed and refused rates, and n."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wardround.reporting.absence import NOT_ASKED, missing_reason
from wardround.reporting.run_files import MeasureLine, RunFiles
from wardround.reporting.tables.figure_cell import FigureCell, draw_track, format_line, measure_scale


@dataclass(frozen=True)
class GridRow:
    label: str
    meaning: str
    cells: list[FigureCell]


@dataclass(frozen=True)
class Grid:
    title: str
    columns: Sequence[str]
    rows: list[GridRow]

    @property
    def interval_row_count(self) -> int:
        """The number of rows with an interval for at least one candidate."""
        return sum(any(cell.interval for cell in row.cells) for row in self.rows)


def grid(
    run: RunFiles,
    title: str,
    columns: Sequence[str],
    rows: Iterable[tuple[str, str, Sequence[MeasureLine | None]]],
    *,
    tracks: bool = False,
    chance: float | None = None,
) -> Grid:
    """A grid of rows (label, meaning, a line per column); `tracks` adds a drawing to each cell."""
    grid_rows = []
    for label, meaning, lines in rows:
        known = next((line for line in lines if line is not None), None)
        cells = []
        for line, column in zip(lines, columns, strict=True):
            missing = missing_reason(run, known.measure, column, known.slice) if known else NOT_ASKED
            cell = replace(format_line(line, missing), cases=run.line_cases_link(line))
            if line is not None and tracks:
                cell = replace(cell, track=draw_track(column, cell, measure_scale(line.measure, chance)))
            cells.append(cell)
        grid_rows.append(GridRow(label, meaning, cells))
    return Grid(title, [run.printed_name(column) for column in columns], grid_rows)
