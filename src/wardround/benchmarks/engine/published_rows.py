"""Adds the paper's figures to a run's table: marked as published, and never where the protocol differs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wardround.benchmarks.engine.literature import other_retrievers
from wardround.benchmarks.engine.named_study import StudyDefinition
from wardround.benchmarks.engine.published import PublishedTable
from wardround.reporting.numbers import join_words
from wardround.reporting.tables.measured import JUDGED, ColumnSpec
from wardround.reporting.tables.table import Cell, Table, TableRow


def add_published_rows(
    table: Table,
    specs: list[ColumnSpec],
    definition: StudyDefinition,
    published: PublishedTable,
    settings: Mapping[str, Any],
    lacking: Mapping[str, str] | None = None,
) -> Table:
    """The table with the published rows below its own, and notes with the reasons for columns that have none.

    `lacking` says of some measures why this run's are not those of the paper.
    """
    lacking = lacking or {}
    reasons = [
        exclusion_reason(spec, definition, settings) or (lacking.get(spec.measure) if spec.published else None)
        for spec in specs
    ]
    names = [spec.published if reason is None else None for spec, reason in zip(specs, reasons, strict=True)]
    names = [name if name in published.columns else None for name in names]
    if not any(names):
        listed = list(dict.fromkeys(filter(None, reasons))) or ["no column of this table is in the paper's"]
        return replace(table, notes=[*table.notes, f"Published figures are not shown: {'; '.join(listed)}."])
    rows = [
        TableRow(
            (label, *("" for _ in table.labels[1:])),
            [_cell(published, label, name, spec) for name, spec in zip(names, specs, strict=True)],
            published=True,
        )
        for label in published.labels
    ]
    notes = [f"Published rows are those of {published.source}, {definition.paper}, on the paper's own cases."]
    for reason in dict.fromkeys(filter(None, reasons)):
        notes.append(f"No published figures under {_column_names(specs, reasons, reason)}: {reason}.")
    return replace(table, rows=[*table.rows, *rows], notes=[*table.notes, *notes])


def _column_names(specs: list[ColumnSpec], reasons: list[str | None], reason: str) -> str:
    """The columns with this reason, by heading alone if all columns of that heading have it."""
    others = {spec.heading for spec, other in zip(specs, reasons, strict=True) if other != reason}
    excluded = [spec for spec, other in zip(specs, reasons, strict=True) if other == reason]
    names = [f"{spec.over} {spec.heading}".strip() if spec.heading in others else spec.heading for spec in excluded]
    return ", ".join(dict.fromkeys(names))


def exclusion_reason(spec: ColumnSpec, definition: StudyDefinition, settings: Mapping[str, Any]) -> str | None:
    """Why the paper's figures are not shown in a column, or None if they are."""
    if spec.published is None:
        return None
    if not definition.comparable:
        return definition.reason
    for name in (spec.heading, spec.over):
        if name in definition.differs:
            return definition.differs[name]
    if spec.slice.get("evidence") == "rag" and definition.put and (other := other_retrievers(definition.put, settings)):
        return f"the paper searched by {join_words(definition.put.retrievers)}, this run by {join_words(other)}"
    if spec.measure.startswith(JUDGED) and settings.get("judge", {}).get("provider") == "lexical":
        return "the paper's answers were marked by a model, these by the offline judge"
    asked, paper = settings.get("trials", 1), definition.put.trials if definition.put else 1
    return f"the paper asked {paper} times, this run {asked}" if asked != paper else None


def _cell(published: PublishedTable, label: str, name: str | None, spec: ColumnSpec) -> Cell:
    value = published.value(label, name) if name else None
    if value is None:
        return Cell()
    in_percent = published.info.unit in ("percent", "mixed") and spec.unit == "percent"
    return Cell(value / 100 if in_percent else value)
