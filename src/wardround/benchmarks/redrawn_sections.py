"""The report section of a bench run, drawn anew by `run`, `mark` and `report`. Drawing is loaded with the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wardround.benchmarks.engine.benchmark import REPORT_SECTION

if TYPE_CHECKING:
    from wardround.reporting.run_files import RunFiles
    from wardround.reporting.sections.section import Section, SectionMaker


def redrawn_sections(note: Callable[[str], None]) -> dict[str, SectionMaker]:
    """What replaces the registered section: it writes table.* and the figures, too."""

    def make(run: RunFiles) -> Section | None:
        from wardround.benchmarks.engine.bench import redraw

        return redraw(run, note)

    return {REPORT_SECTION: make}
