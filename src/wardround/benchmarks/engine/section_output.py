"""What the functions of a sections.py return, and how they write a figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wardround.core.errors import WardroundError
from wardround.reporting.figures.figure_files import write_figure
from wardround.reporting.tables.table import Table

if TYPE_CHECKING:
    from wardround.reporting.figures.figure_files import Chart

Note = Callable[[str], None]
SectionOutput = tuple[list[Table], list[Path]]  # the tables, and the files that were written


def write_chart(chart: Chart | None, folder: Path, stem: str, note: Note) -> list[Path]:
    """Writes a chart, if there is one, as SVG and PNG; without the package that this needs, a message says so."""
    try:
        return write_figure(chart, folder, stem) if chart is not None else []
    except WardroundError as error:
        note(str(error))
        return []
