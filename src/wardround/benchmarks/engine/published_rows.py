"""The paper's figures beside a run's: marked as published, and never where the protocol differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wardround.benchmarks.engine.literature import other_retrievers
from wardround.benchmarks.engine.named_study import Entry
from wardround.benchmarks.engine.published import Published
from wardround.reporting.numbers import listed
from wardround.reporting.tables.measured import JUDGED, Wanted
from wardround.reporting.tables.table import Cell, Row, Table


def with_published(
    table: Table, shown: list[Wanted], entry: Entry, published: Published, study: Mapping[str, Any]
) -> Table:
    """The table with the published rows below its own, and with the reasons where they are left out."""
    reasons = [why_not(each, entry, study) for each in shown]
    beside = [each.published if reason is None else None for each, reason in zip(shown, reasons, strict=True)]
    beside = [name if name in published.columns else None for name in beside]
    if not any(beside):
        told = list(dict.fromkeys(filter(None, reasons))) or ["no column of this table is in the paper's"]
        return replace(table, notes=[*table.notes, f"Published figures are not shown: {'; '.join(told)}."])
    rows = [
        Row(
            (label, *("" for _ in table.labels[1:])),
            [_cell(published, label, name, each) for name, each in zip(beside, shown, strict=True)],
            published=True,
        )
        for label in published.labels
    ]
    notes = [f"Published rows are those of {published.source}, {entry.paper}, on the paper's own cases."]
    for reason in dict.fromkeys(filter(None, reasons)):
        notes.append(f"No published figures under {_columns(shown, reasons, reason)}: {reason}.")
    return replace(table, rows=[*table.rows, *rows], notes=[*table.notes, *notes])


def _columns(shown: list[Wanted], reasons: list[str | None], reason: str) -> str:
    """The columns that a reason holds for: by heading alone where it holds for all columns of that heading."""
    others = {each.heading for each, why in zip(shown, reasons, strict=True) if why != reason}
    held = [each for each, why in zip(shown, reasons, strict=True) if why == reason]
    named = [f"{each.over} {each.heading}".strip() if each.heading in others else each.heading for each in held]
    return ", ".join(dict.fromkeys(named))


def why_not(wanted: Wanted, entry: Entry, study: Mapping[str, Any]) -> str | None:
    """Why the paper's figures may not stand under a column, or None if they may."""
    if wanted.published is None:
        return None
    if not entry.comparable:
        return entry.reason
    for name in (wanted.heading, wanted.over):
        if name in entry.differs:
            return entry.differs[name]
    if wanted.slice.get("evidence") == "rag" and entry.put and (other := other_retrievers(entry.put, study)):
        return f"the paper searched by {listed(entry.put.retrievers)}, this run by {listed(other)}"
    if wanted.measure.startswith(JUDGED) and study.get("judge", {}).get("provider") == "lexical":
        return "the paper's answers were marked by a model, these by the offline judge"
    asked, paper = study.get("trials", 1), entry.put.trials if entry.put else 1
    return f"the paper asked {paper} times, this run {asked}" if asked != paper else None


def _cell(published: Published, label: str, name: str | None, wanted: Wanted) -> Cell:
    value = published.value(label, name) if name else None
    if value is None:
        return Cell()
    in_percent = published.about.unit in ("percent", "mixed") and wanted.unit == "percent"
    return Cell(value / 100 if in_percent else value)
