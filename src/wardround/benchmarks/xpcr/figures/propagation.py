"""How errors spread along the chain: their effect, what goes with them, and where chains break, also as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.benchmarks.xpcr.figures.consistency import follows_table
from wardround.benchmarks.xpcr.figures.flow import flow_picture, write_svg
from wardround.core.errors import WardroundError
from wardround.measuring import chain_flow
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.chain_tables import (
    association_table,
    broken_table,
    effect_table,
    independence_table,
    own_chains,
)
from wardround.reporting.tables.table import Table


def propagation(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """The tables, and the picture of where chains break."""
    makers = (effect_table, association_table, broken_table, independence_table)
    tables = [table for table in (*(make(run) for make in makers), follows_table(run, note)) if table is not None]
    drawn = flow_picture(chain_flow(own_chains(run), run.as_study), run.candidates)
    if drawn is None:
        note("there is no chain that has all stages of the study: nothing to draw")
        return tables, []
    try:
        return tables, write_svg(drawn, folder, "flow")
    except WardroundError as error:
        note(str(error))
        return tables, []
