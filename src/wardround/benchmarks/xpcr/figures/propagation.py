"""How errors propagate along the chain: their effect, their association, and where chains break, also as a figure."""

from pathlib import Path

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.benchmarks.xpcr.figures.consistency import longitudinal_table
from wardround.benchmarks.xpcr.figures.flow import flow_svg, write_svg
from wardround.measuring import chain_flow
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.chain_tables import (
    association_table,
    effect_table,
    first_error_table,
    independence_table,
    own_chains,
)


def propagation(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The tables, and the figure of where chains break."""
    makers = (effect_table, association_table, first_error_table, independence_table)
    tables = [table for table in (*(make(run) for make in makers), longitudinal_table(run, note)) if table is not None]
    svg = flow_svg(chain_flow(own_chains(run), run.study), run.candidates)
    if svg is None:
        note("no chain has all stages of the study: nothing to draw")
        return tables, []
    return tables, write_svg(svg, folder, "flow", note)
