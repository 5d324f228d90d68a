"""Chains of stages: complete ones, accuracy by stage, where they break, and how errors go together."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wardround.measuring import upstream_errors
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import count, percent, span
from wardround.reporting.reference_condition import at_reference, by_part, marks_at_reference, ranked, reference
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.chain_tables import broken_table, consistency_table, effect_table, independence_table
from wardround.reporting.tables.grid import grid
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.table import Table
from wardround.reporting.templating import render

CHAINED = ("swa", "ccr")


@dataclass(frozen=True)
class Association:
    """What goes together at one stage; `note` stands where there is no figure or no interval."""

    difference: str | None
    interval: str | None
    after_wrong: str
    after_right: str
    n: str
    note: str | None


def chains(run: RunFolder) -> Section | None:
    columns = ranked(run)
    rows = [
        (
            measure_title("ccr"),
            measure_meaning("ccr"),
            [run.line("ccr", name, at_reference(run, "ccr")) for name in columns],
        )
    ]
    for slice in by_part(run, "swa", "stage"):
        label = "Mean over stages" if slice["stage"] == "mean" else f"Stage {slice['stage']}"
        meaning = "Unweighted (SWA)." if slice["stage"] == "mean" else ""
        rows.append((label, meaning, [run.line("swa", name, slice) for name in columns]))
    rows = [row for row in rows if any(line is not None and line.value is not None for line in row[2])]
    told = upstream_errors(marks_at_reference(run), run.as_study)
    if not rows and told.is_empty():
        return None
    stages = list(told["stage"].unique(maintain_order=True))
    effects, models = effect_table(run), [name for name in columns if name not in run.people]
    drawn = render(
        "chains.html",
        grid=grid(run, "", columns, rows) if rows else None,
        stages=[stage or "all stages" for stage in stages],
        associations=[(name, [_association(told, name, stage) for stage in stages]) for name in models],
        held=reference(run),
        effects=effects is not None,
        tables=[(table.title, as_html(table)) for table in (effects, *_others(run)) if table is not None],
    )
    return Section("chains", "Chains", drawn)


def _others(run: RunFolder) -> list[Table | None]:
    return [broken_table(run), independence_table(run), consistency_table(run)]


def _association(told: pl.DataFrame, name: str, stage: str) -> Association:
    found = told.filter(candidate=name, stage=stage)
    if found.is_empty():
        return Association(None, None, "–", "–", "", "not asked")
    row = found.row(0, named=True)
    shares = {"after_wrong": percent(row["after_wrong"]), "after_right": percent(row["after_right"])}
    n = f"{count(row['n_after_wrong'])} of {count(row['n'])}"
    if row["difference"] is None:
        return Association(
            None, None, **shares, n=n, note="never wrong before" if not row["n_after_wrong"] else "always wrong before"
        )
    interval = span("difference", row["low"], row["high"])
    return Association(percent(row["difference"]), interval, **shares, n=n, note=None if interval else "too few cases")
