"""Chains of stages: complete chains, accuracy by stage, where they break, and how errors are associated."""

from typing import Any

import polars as pl

from wardround.measuring import upstream_errors
from wardround.reporting.absence import NO_INTERVAL, NOT_ASKED
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import format_interval
from wardround.reporting.reference_condition import (
    ranked_candidates,
    reference_values,
    slices_by_key,
)
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.chain_tables import (
    consistency_table,
    effect_table,
    first_error_table,
    independence_table,
)
from wardround.reporting.tables.grid import grid
from wardround.reporting.tables.html import as_html
from wardround.reporting.tables.remarks import add_remarks
from wardround.reporting.templating import render

CHAINED = ("swa", "ccr")


def chains(run: RunFiles) -> Section | None:
    columns = ranked_candidates(run)
    whole = [run.find_line("ccr", name, {}) for name in columns]
    rows = [(measure_title("ccr"), measure_meaning("ccr"), whole)]
    for slice in slices_by_key(run, "swa", "stage"):
        label = "Mean over stages" if slice["stage"] == "mean" else f"Stage {slice['stage']}"
        meaning = "Unweighted (SWA)." if slice["stage"] == "mean" else ""
        rows.append((label, meaning, [run.find_line("swa", name, slice) for name in columns]))
    rows = [row for row in rows if any(line is not None and line.value is not None for line in row[2])]
    errors = upstream_errors(run.marks_at_reference, run.study)
    if not rows and errors.is_empty():
        return None
    stages = list(errors["stage"].unique(maintain_order=True))
    effects, models = effect_table(run), [name for name in columns if name not in run.people]
    tables = (effects, first_error_table(run), independence_table(run), consistency_table(run))
    html = render(
        "sections/chains.html",
        grid=grid(run, "", columns, rows) if rows else None,
        stages=[stage or "all stages" for stage in stages],
        associations=[(name, [_association(errors, name, stage) for stage in stages]) for name in models],
        fixed=reference_values(run),
        has_effects=effects is not None,
        tables=[(table.title, as_html(add_remarks(table, run))) for table in tables if table is not None],
    )
    return Section("chains", "Chains", html)


def _association(errors: pl.DataFrame, name: str, stage: str) -> dict[str, Any]:
    """The association at one stage; `note` says why a figure or its interval is missing."""
    own = errors.filter(candidate=name, stage=stage)
    if own.is_empty():
        return {"note": NOT_ASKED}
    row = own.row(0, named=True)
    interval, note = format_interval("difference", row["low"], row["high"]), ""
    if row["difference"] is None:
        note = "always an earlier error" if row["n_after_wrong"] else "no earlier error"
    elif interval is None:
        note = NO_INTERVAL
    return {**row, "interval": interval, "note": note}
