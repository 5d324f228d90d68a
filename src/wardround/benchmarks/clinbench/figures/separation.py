"""Figure 1 in numbers: how well case sets tell candidates apart. The statistics are our choice.

The paper shows bars of a few models on four sets. We report for each set the spread between the best and the worst
candidate, the pairs of candidates that differ significantly (paired sign flips, adjusted for all pairs of the set), the
spread of the true accuracies without sampling noise, and how settled the ranks are.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from wardround.benchmarks.clinbench.figures.accuracies import GroupAccuracy, accuracy_by_group, resampled_cell
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.comparing.families import PEOPLE
from wardround.measuring.comparing.ranks import ALPHA, rank_intervals
from wardround.measuring.engine.exact import Floats
from wardround.reporting.figures.table_figure import COLOURS, ROW
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

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
    "all pairs of the set. More cases tell more pairs apart: compare the column Cases.",
    "True spread: the standard deviation of accuracies between candidates without sampling noise. It does not grow "
    "with the number of cases.",
    "Ranks open: the mean number of ranks that a candidate may have; 1 is a settled order.",
    "Best - worst compares the extremes of several figures, which noise alone drives apart.",
]


def fig1(runs: Sequence[tuple[str, RunFiles]], folder: Path, note: Note) -> SectionOutput:
    """One row for each case set, and the accuracies drawn set by set."""
    accuracies_by_set = {name: _accuracies(run) for name, run in runs}
    rows = [TableRow((name,), _cells(run, accuracies_by_set[name])) for name, run in runs]
    table = Table("How well case sets tell candidates apart", ("Case set",), COLUMNS, rows, NOTES)
    return [table], write_chart(_dots(accuracies_by_set), folder, "figure", note)


def _accuracies(run: RunFiles) -> dict[str, GroupAccuracy]:
    return {candidate: group for (candidate, _), group in accuracy_by_group(run, pl.lit("all")).items()}


def _cells(run: RunFiles, accuracy_by_candidate: dict[str, GroupAccuracy]) -> list[Cell]:
    accuracies = np.array([group.accuracies for group in accuracy_by_candidate.values()])
    n, clusters = int(run.manifest["cases"]["cases"]), min(group.clusters for group in accuracy_by_candidate.values())
    extremes = [resampled_cell(extreme(accuracies, axis=0), n, clusters) for extreme in (np.max, np.min)]
    pairs, separated, ranks = _count_separated(run)
    return [
        Cell(float(n)),
        Cell(run.manifest.get("chance")),
        *(Cell(cell.value, n=n) for cell in extremes),
        resampled_cell(accuracies.max(axis=0) - accuracies.min(axis=0), n, clusters),
        Cell(true_spread(accuracies), n=n),
        Cell(separated / pairs if pairs else None, n=pairs),
        Cell(ranks),
    ]


def true_spread(accuracies: Floats) -> float:
    """The SD between candidates (rows; their value first, then its resamples) without the noise of each value.

    Candidates answered the same cases, so what moves all of them alike is not noise between them.
    """
    values, resampled = accuracies[:, 0], accuracies[:, 1:]
    within = (resampled - resampled.mean(axis=0)).var(axis=1).sum() / max(1, len(values) - 1)
    return sqrt(max(0.0, float(values.var(ddof=1)) - float(within))) if len(values) > 1 else 0.0


def _count_separated(run: RunFiles) -> tuple[int, int, float | None]:
    """Pairs, pairs that differ significantly, and the mean number of possible ranks of a candidate."""
    of_models = (comparison for comparison in run.comparison_lines if not (comparison.family or "").startswith(PEOPLE))
    pairs = [comparison for comparison in of_models if not comparison.slice and comparison.p_adjusted is not None]
    separated = sum(comparison.p_adjusted is not None and comparison.p_adjusted <= ALPHA for comparison in pairs)
    intervals = rank_intervals(run.comparisons)
    width = (intervals["last"] - intervals["first"] + 1).mean() if len(intervals) else None
    return len(pairs), separated, None if width is None else float(width)  # type: ignore[arg-type]


def _dots(accuracies_by_set: dict[str, dict[str, GroupAccuracy]]) -> alt.LayerChart:
    points: list[dict[str, Any]] = []
    for name, groups in accuracies_by_set.items():
        for candidate, group in groups.items():
            cell = group.cell
            points.append({"set": name, "candidate": candidate, "value": 100 * (cell.value or 0.0)})
            if cell.low is not None and cell.high is not None:
                points[-1] |= {"low": 100 * cell.low, "high": 100 * cell.high}
    base = alt.Chart(alt.Data(values=points), title=alt.Title("Accuracy by case set", anchor="start"))
    row = alt.Y("set:N", sort=list(accuracies_by_set), title=None, axis=alt.Axis(labelLimit=300))
    candidates = list(dict.fromkeys(point["candidate"] for point in points))
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(candidates))]
    offset = alt.YOffset("candidate:N", sort=candidates)
    scale = alt.Scale(domain=candidates, range=colours)
    colour = alt.Color("candidate:N", title=None, scale=scale, legend=alt.Legend(labelLimit=300, symbolOpacity=1))
    lines = base.mark_rule().encode(alt.X("low:Q", title="Accuracy (%)"), alt.X2("high:Q"), row, offset, colour)
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(alt.X("value:Q"), row, offset, colour)
    chart: alt.LayerChart = (lines + dots).properties(width=420, height=alt.Step(ROW // 2, **{"for": "offset"}))
    return chart
