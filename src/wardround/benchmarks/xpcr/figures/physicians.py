"""The further tables of Table 2: drops along the chain, chains against independent stages, the paper's physicians."""

from pathlib import Path

from wardround.benchmarks.engine.published import load_published
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.benchmarks.xpcr.figures.stage_drops import STAGES, drops_table
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.chain_tables import independence_table
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

COLUMNS = (*STAGES, "SWA", "ESA_R", "ESA_A", "ESA_S", "ESA", "CCR")
PEOPLE = {"Residents": 23, "Attendings": 10, "Specialists": 8}


def table2(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Three tables: drops from stage to stage, chains against their stages, and physicians."""
    tables = (drops_table(run), independence_table(run), physicians())
    return [table for table in tables if table is not None], []


def physicians() -> Table:
    """The paper's three groups of people."""
    paper = load_published("xpcr/table2")
    rows = []
    for name, count in PEOPLE.items():
        values = [paper.value(name, column) for column in COLUMNS]
        cells = [Cell(None if value is None else value / 100) for value in values]
        rows.append(TableRow((name,), [*cells, Cell(count)], published=True))
    columns = [Column(name.removeprefix("ESA_"), _heading_over(name), decimals=2) for name in COLUMNS]
    notes = [
        f"{paper.source}, Table 2, on the paper's own cases. Their ECE and UAS are left out: bins, weights and "
        "threshold were not published.",
    ]
    return Table("Physicians, as published", ("Group",), [*columns, Column("People", unit="count")], rows, notes)


def _heading_over(name: str) -> str:
    return "Stage-wise accuracy" if name in (*STAGES, "SWA") else "Accuracy by level" if name.startswith("ESA") else ""
