"""Figure 1 as a figure: how well case sets tell candidates apart. What is counted here is our choice.

The paper shows bars of a few models on four sets. Here stand, for each set: the spread between the best and the worst
candidate, how many pairs of candidates differ significantly (paired sign flips, adjusted for all pairs of the set), the
spread of true accuracies once the noise of so many cases is taken off, and how settled the ranks are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import Group, cell, grouped
from wardround.core.errors import WardroundError
from wardround.measuring.comparing.families import PEOPLE
from wardround.measuring.comparing.ranks import ALPHA, rank_intervals
from wardround.measuring.engine.exact import Floats
from wardround.reporting.figures.table_figure import ROW, write_figure
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

COLUMNS = [
    Column("Cases", unit="count"),
    Column("Chance"),
    Column("Best"),
    Column("Worst"),
    Column("Best - worst"),
    Column("True spread (SD)"),
    Column("Pairs told apart"),
    Column("Ranks open", unit="fraction", decimals=1),
]
NOTES = [
    "Pairs told apart: share of pairs of candidates whose accuracies differ at 5%, by paired sign flips adjusted for "
    "all pairs of the set. More cases tell more pairs apart: mind the column Cases.",
    "True spread: the standard deviation of accuracies between candidates less what chance adds with so many cases. It "
    "does not grow with the number of cases.",
    "Ranks open: how many ranks a candidate may have, on average; 1 is a settled order.",
    "Best - worst is of the most extreme of several figures, which noise alone makes larger.",
]


def fig1(
    runs: Sequence[tuple[str, RunFolder]], folder: Path, note: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """One row for each case set, and the accuracies drawn set by set."""
    found = {name: _accuracies(run) for name, run in runs}
    rows = [Row((name,), _cells(run, found[name])) for name, run in runs]
    table = Table("How well case sets tell candidates apart", ("Case set",), COLUMNS, rows, NOTES)
    try:
        files = write_figure(_dots(found), folder)
    except WardroundError as error:
        note(str(error))
        files = []
    return [table], files


def _accuracies(run: RunFolder) -> dict[str, Group]:
    return {candidate: group for (candidate, _), group in grouped(run, pl.lit("all")).items()}


def _cells(run: RunFolder, found: dict[str, Group]) -> list[Cell]:
    accuracies = np.array([group.accuracies for group in found.values()])
    n, clusters = int(run.manifest["cases"]["cases"]), min(group.clusters for group in found.values())
    ends = [cell(pick(accuracies, axis=0), n, clusters) for pick in (np.max, np.min)]
    pairs, apart, ranks = _told_apart(run)
    return [
        Cell(float(n)),
        Cell(run.manifest.get("chance")),
        *(Cell(each.value, n=n) for each in ends),
        cell(accuracies.max(axis=0) - accuracies.min(axis=0), n, clusters),
        Cell(true_spread(accuracies), n=n),
        Cell(apart / pairs if pairs else None, n=pairs),
        Cell(ranks),
    ]


def true_spread(accuracies: Floats) -> float:
    """The SD between candidates (rows; their value first, then its resamples) without the noise of each value.

    Candidates answered the same cases, so what moves them all alike is no noise between them.
    """
    values, drawn = accuracies[:, 0], accuracies[:, 1:]
    within = (drawn - drawn.mean(axis=0)).var(axis=1).sum() / max(1, len(values) - 1)
    return sqrt(max(0.0, float(values.var(ddof=1)) - float(within))) if len(values) > 1 else 0.0


def _told_apart(run: RunFolder) -> tuple[int, int, float | None]:
    """Pairs, pairs that differ significantly, and the mean number of ranks that a candidate may have."""
    models = (each for each in run.compared if not (each.family or "").startswith(PEOPLE))
    pairs = [each for each in models if not each.slice and each.p_adjusted is not None]
    apart = sum(each.p_adjusted is not None and each.p_adjusted <= ALPHA for each in pairs)
    ranks = rank_intervals(run.comparisons)
    width = (ranks["last"] - ranks["first"] + 1).mean() if len(ranks) else None
    return len(pairs), apart, None if width is None else float(width)  # type: ignore[arg-type]


def _dots(found: dict[str, dict[str, Group]]) -> alt.LayerChart:
    told: list[dict[str, Any]] = []
    for name, groups in found.items():
        for candidate, group in groups.items():
            each = group.cell
            told.append({"set": name, "candidate": candidate, "value": 100 * (each.value or 0.0)})
            if each.low is not None and each.high is not None:
                told[-1] |= {"low": 100 * each.low, "high": 100 * each.high}
    base = alt.Chart(alt.Data(values=told), title=alt.Title("Accuracy by case set", anchor="start"))
    row = alt.Y("set:N", sort=list(found), title=None, axis=alt.Axis(labelLimit=300))
    offset = alt.YOffset("candidate:N")
    colour = alt.Color("candidate:N", title=None, legend=alt.Legend(labelLimit=300))
    lines = base.mark_rule().encode(alt.X("low:Q", title="Accuracy (%)"), alt.X2("high:Q"), row, offset, colour)
    dots = base.mark_point(filled=True).encode(alt.X("value:Q"), row, offset, colour)
    return (lines + dots).properties(width=420, height=alt.Step(ROW))
