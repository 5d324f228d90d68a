"""Table 2's company: complete chains beside what independent stages would give, and the paper's physicians."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.benchmarks.engine.published import load
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.chain_tables import independence_table
from wardround.reporting.tables.table import Cell, Column, Row, Table

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
SHOWN = (*STAGES, "SWA", "ESA_R", "ESA_A", "ESA_S", "ESA", "CCR")
PEOPLE = {"Residents": 23, "Attendings": 10, "Specialists": 8}


def table2(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Two tables: chains against their stages, and physicians."""
    return [table for table in (independence_table(run), physicians()) if table is not None], []


def physicians() -> Table:
    """The paper's three groups of people."""
    paper = load("xpcr/table2")
    rows = []
    for name, many in PEOPLE.items():
        values = [paper.value(name, column) for column in SHOWN]
        cells = [Cell(None if value is None else value / 100) for value in values]
        rows.append(Row((name,), [*cells, Cell(many)], published=True))
    columns = [Column(name.removeprefix("ESA_"), _over(name), decimals=2) for name in SHOWN]
    notes = [
        f"{paper.source}, Table 2, on the paper's own cases. Their ECE and UAS are left out: bins, weights and "
        "threshold were not published.",
    ]
    return Table("Physicians, as published", ("Group",), [*columns, Column("People", unit="count")], rows, notes)


def _over(name: str) -> str:
    return "Stage-wise accuracy" if name in (*STAGES, "SWA") else "Accuracy by level" if name.startswith("ESA") else ""
