"""What the functions of a sections.py return, and how they write a figure."""

from collections.abc import Callable
from pathlib import Path

from wardround.core.errors import WardroundError
from wardround.reporting.figures.table_figure import Chart, write_figure
from wardround.reporting.tables.table import Table

Note = Callable[[str], None]
SectionOutput = tuple[list[Table], list[Path]]  # the tables, and the files that were written


def write_chart(chart: Chart | None, folder: Path, stem: str, note: Note) -> list[Path]:
    """Writes a chart, if there is one, as SVG and PNG; without the package that this needs, a message says so."""
    try:
        return write_figure(chart, folder, stem) if chart is not None else []
    except WardroundError as error:
        note(str(error))
        return []
