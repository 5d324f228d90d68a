"""Figure 5 (b): do candidates rank alike on simulated and on really degraded images?

Ranks on the same cases also agree by chance, so Kendall's tau is computed between accuracies on two disjoint halves of
the clusters. A condition with itself, between halves, shows how high tau can be.
"""

from itertools import combinations_with_replacement
from pathlib import Path

import altair as alt
import numpy as np

from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.benchmarks.medq_deg.figures.scores import SPLITS, Scores, Values, interval, resampled_halves, scores
from wardround.core.random import stream
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

NAMES = {"L1": "Simulated, mild", "L2": "Simulated, severe", "mild": "Real, mild", "severe": "Real, severe"}
MIN_CLUSTERS = 8


def fig5b(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The bump chart of ranks, and a table of Kendall's tau between conditions."""
    run_scores = scores(run, list(NAMES))
    asked = [severity for index, severity in enumerate(NAMES) if run_scores.asked[:, index].sum() > 0]
    run_scores = scores(run, asked)
    if len(run_scores.candidates) < 2 or len(asked) < 2:
        note("ranks need two or more candidates, under two or more of these conditions: " + ", ".join(NAMES.values()))
        return [], []
    table = _agreement(run_scores, run.study.seed)
    return [table], write_chart(_bump_chart(run_scores), folder, "ranks", note)


def ranks(run_scores: Scores) -> Values:
    """1 is the best; ties share their mean rank. Candidates x severities."""
    accuracy = run_scores.accuracy(np.ones(run_scores.right.shape[-1]))
    better = (accuracy[None] > accuracy[:, None]).sum(axis=1)
    equal = (accuracy[None] == accuracy[:, None]).sum(axis=1)
    return np.asarray(1 + better + (equal - 1) / 2)


def kendall(first: Values, second: Values) -> Values:
    """tau-b over the last axis; nan if one side is all ties."""
    left, right = np.triu_indices(first.shape[-1], 1)
    x, y = (np.sign(values[..., left] - values[..., right]) for values in (first, second))
    size = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    return np.asarray(np.divide((x * y).sum(axis=-1), size, out=np.full(size.shape, np.nan), where=size > 0))


def tau_cell(run_scores: Scores, first: int, second: int, seed: int) -> Cell:
    """Kendall's tau between two severities on disjoint halves of the clusters, with its interval."""
    random = stream(seed, f"halves for ranks {first} {second}")
    clusters = run_scores.right.shape[-1]
    splits, resampled = map(np.array, zip(*resampled_halves(clusters, random), strict=True))
    value = kendall(*_half_accuracies(run_scores, splits[:SPLITS], first, second))
    low, high = interval(kendall(*_half_accuracies(run_scores, resampled, first, second)))
    if np.isnan(value).all():
        return Cell(text="no ranks")
    return Cell(float(np.nanmean(value)), low, high, n=len(run_scores.candidates), clusters=clusters)


def _half_accuracies(run_scores: Scores, weights: Values, first: int, second: int) -> tuple[Values, Values]:
    return run_scores.accuracy(weights[:, 0])[..., first], run_scores.accuracy(weights[:, 1])[..., second]


def _agreement(run_scores: Scores, seed: int) -> Table:
    pairs = list(combinations_with_replacement(range(len(run_scores.severities)), 2))
    has_too_few = run_scores.right.shape[-1] < MIN_CLUSTERS
    names = [NAMES[severity] for severity in run_scores.severities]
    rows = [
        TableRow(
            (names[first], names[second] if first != second else "itself"),
            [Cell(text="too few cases") if has_too_few else tau_cell(run_scores, first, second, seed)],
        )
        for first, second in pairs
    ]
    return Table(
        "Kendall's tau between the ranks of the candidates",
        ("Condition", "Other condition"),
        [Column("tau", unit="fraction", decimals=2)],
        rows,
        [
            f"{len(run_scores.candidates)} candidates. Accuracies are measured on two disjoint halves of the clusters, "
            f"{SPLITS} times; brackets are 95% intervals over clusters.",
            "A condition with itself shows how high tau can be with this number of cases.",
        ],
    )


def _bump_chart(run_scores: Scores) -> alt.LayerChart:
    order = [NAMES[severity] for severity in run_scores.severities]
    points = [
        {"candidate": candidate, "condition": condition, "rank": rank}
        for candidate, row in zip(run_scores.candidates, ranks(run_scores).tolist(), strict=True)
        for condition, rank in zip(order, row, strict=True)
    ]
    base = alt.Chart(alt.Data(values=points), title=alt.Title("Rank of each candidate", anchor="start"))
    x = alt.X("condition:N", sort=order, title=None, axis=alt.Axis(labelAngle=0))
    count = len(run_scores.candidates)
    scale = alt.Scale(domain=[0.5, count + 0.5], reverse=True, nice=False, zero=False)
    y = alt.Y("rank:Q", title="Rank", scale=scale, axis=alt.Axis(values=list(range(1, count + 1)), grid=False))
    colour = alt.Color("candidate:N", sort=run_scores.candidates, legend=None)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=70), strokeWidth=2.5).encode(x, y, colour)
    last_points = base.transform_filter(alt.datum.condition == order[-1])
    names = last_points.mark_text(align="left", dx=10).encode(x, y, alt.Text("candidate:N"), colour)
    chart: alt.LayerChart = (lines + names).properties(width=alt.Step(130), height=max(160, 26 * count))
    return chart
