"""Figure 5 (b): do candidates rank alike on simulated and on really degraded images?

Ranks on the same cases agree by the luck of those cases as well, so Kendall's tau is taken between accuracies on two
halves of the clusters that share none. A condition with itself, between halves, says how high tau can be expected.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path

import altair as alt
import numpy as np

from wardround.benchmarks.medq_deg.figures.scores import RESAMPLES, Scores, Values, halves, interval, redrawn, scores
from wardround.core.errors import WardroundError
from wardround.core.random import stream
from wardround.reporting.figures.table_figure import write_figure
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

NAMES = {"L1": "Simulated, mild", "L2": "Simulated, severe", "mild": "Real, mild", "severe": "Real, severe"}
SPLITS = 200
FEWEST_CLUSTERS = 8


def fig5b(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """The bump chart of ranks, and a table of Kendall's tau between conditions."""
    found = scores(run, list(NAMES))
    there = [severity for place, severity in enumerate(NAMES) if found.asked[:, place].sum() > 0]
    found = scores(run, there)
    if len(found.candidates) < 2 or len(there) < 2:
        note("ranks need two or more candidates, under two or more of these conditions: " + ", ".join(NAMES.values()))
        return [], []
    files: list[Path] = []
    try:
        files = write_figure(_bumps(found), folder, "ranks")
    except WardroundError as error:
        note(str(error))
    return [_agreement(found, run.as_study.seed)], files


def ranks(found: Scores) -> Values:
    """1 is the best; ties share their mean rank. Candidates x severities."""
    accuracy = found.accuracy(np.ones(found.right.shape[-1]))
    better = (accuracy[None] > accuracy[:, None]).sum(axis=1)
    same = (accuracy[None] == accuracy[:, None]).sum(axis=1)
    return np.asarray(1 + better + (same - 1) / 2)


def kendall(a: Values, b: Values) -> Values:
    """tau-b over the last axis; nan where one side is all ties."""
    one, other = np.triu_indices(a.shape[-1], 1)
    x, y = (np.sign(each[..., one] - each[..., other]) for each in (a, b))
    size = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    return np.asarray(np.divide((x * y).sum(axis=-1), size, out=np.full(size.shape, np.nan), where=size > 0))


def tau(found: Scores, a: int, b: int, seed: int) -> Cell:
    """Kendall's tau between two severities on halves that share no cluster, with its interval."""
    random = stream(seed, f"halves for ranks {a} {b}")
    clusters = found.right.shape[-1]
    whole, drawn = [], []
    for number in range(max(SPLITS, RESAMPLES)):
        split = halves(clusters, random)
        if number < SPLITS:
            whole.append(split)
        drawn.append([redrawn(half, random) for half in split])
    value = kendall(*_sides(found, np.array(whole), a, b))
    low, high = interval(kendall(*_sides(found, np.array(drawn), a, b)))
    if np.isnan(value).all():
        return Cell(said="no ranks")
    return Cell(float(np.nanmean(value)), low, high, n=len(found.candidates), clusters=clusters)


def _sides(found: Scores, weights: Values, a: int, b: int) -> tuple[Values, Values]:
    return found.accuracy(weights[:, 0])[..., a], found.accuracy(weights[:, 1])[..., b]


def _agreement(found: Scores, seed: int) -> Table:
    pairs = list(combinations_with_replacement(range(len(found.severities)), 2))
    few = found.right.shape[-1] < FEWEST_CLUSTERS
    rows = [
        Row(
            (NAMES[found.severities[a]], NAMES[found.severities[b]] if a != b else "itself"),
            [Cell(said="too few cases") if few else tau(found, a, b, seed)],
        )
        for a, b in pairs
    ]
    return Table(
        "Kendall's tau between the ranks of the candidates",
        ("Condition", "Other condition"),
        [Column("tau", unit="fraction", decimals=2)],
        rows,
        [
            f"{len(found.candidates)} candidates. Accuracies are taken on two halves of the clusters that share none, "
            f"{SPLITS} times; brackets are 95% intervals over clusters.",
            "A condition with itself says how high tau can be on so many cases.",
        ],
    )


def _bumps(found: Scores) -> alt.LayerChart:
    order = [NAMES[severity] for severity in found.severities]
    told = [
        {"candidate": candidate, "condition": condition, "rank": rank}
        for candidate, row in zip(found.candidates, ranks(found).tolist(), strict=True)
        for condition, rank in zip(order, row, strict=True)
    ]
    base = alt.Chart(alt.Data(values=told), title=alt.Title("Rank of each candidate", anchor="start"))
    x = alt.X("condition:N", sort=order, title=None, axis=alt.Axis(labelAngle=0))
    many = len(found.candidates)
    scale = alt.Scale(domain=[0.5, many + 0.5], reverse=True, nice=False, zero=False)
    y = alt.Y("rank:Q", title="Rank", scale=scale, axis=alt.Axis(values=list(range(1, many + 1)), grid=False))
    colour = alt.Color("candidate:N", sort=found.candidates, legend=None)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=70), strokeWidth=2.5).encode(x, y, colour)
    last = base.transform_filter(alt.datum.condition == order[-1])
    names = last.mark_text(align="left", dx=10).encode(x, y, alt.Text("candidate:N"), colour)
    return (lines + names).properties(width=alt.Step(130), height=max(160, 26 * many))
