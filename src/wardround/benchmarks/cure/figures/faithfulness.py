"""Faithfulness: how often candidates say what their documents say, against how often they are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from wardround.benchmarks.cure.figures.answers import IMAGES, open_answers
from wardround.core.errors import WardroundError
from wardround.measuring.engine.bootstrap import percentile_interval, resample_weights
from wardround.reporting.figures.table_figure import write_figure
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

Values = NDArray[np.float64]
EVIDENCE = {"reference": "with references", "rag": "with RAG"}
SHARES = {"grounded": "Grounded", "right": "Hit@1", "misled": "Evidence-misled"}
PAIRS = (
    (("grounded", "reference"), ("right", "reference")),
    (("grounded", "rag"), ("right", "rag")),
    (("grounded", "reference"), ("misled", "rag")),
)
FEWEST = 4  # candidates


class Sums(NamedTuple):
    """Answers, and those grounded, right and misled: candidates x clusters, by share and evidence."""

    candidates: list[str]
    parts: dict[tuple[str, str], Values]
    whole: dict[str, Values]

    def shares(self, share: tuple[str, str], weights: Values) -> Values:
        """With so many copies of each cluster (clusters x resamples): candidates x resamples."""
        part, whole = self.parts[share] @ weights, self.whole[share[1]] @ weights
        return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


def faithfulness(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """The scatter plot, and the rank correlations between candidates."""
    found = sums(run)
    files: list[Path] = []
    try:
        files = write_figure(_scatter(run), folder, "faithfulness")
    except WardroundError as error:
        note(str(error))
    return [_correlations(found, run.as_study.seed)], files


def sums(run: RunFolder) -> Sums:
    """Of the answers whose grounding was judged."""
    answers = open_answers(run).filter(pl.col("inputs") == IMAGES, pl.col("grounded").is_not_null())
    clusters = {name: place for place, name in enumerate(sorted(set(answers["cluster"])))}
    shape = len(run.candidates), len(clusters)
    parts = {(share, value): np.zeros(shape) for share in SHARES for value in EVIDENCE}
    whole = {value: np.zeros(shape) for value in EVIDENCE}
    for row in answers.filter(pl.col("evidence").is_in(list(EVIDENCE))).iter_rows(named=True):
        at, value = (run.candidates.index(row["candidate"]), clusters[row["cluster"]]), row["evidence"]
        whole[value][at] += 1
        told = {"grounded": row["grounded"], "right": row["right"], "misled": row["grounded"] and not row["right"]}
        for share, holds in told.items():
            parts[share, value][at] += bool(holds)
    return Sums(run.candidates, parts, whole)


def spearman(a: Values, b: Values) -> Values:
    """Between the columns of two tables of candidates x resamples; nan where all are alike."""
    x, y = (rankdata(each, axis=0) for each in (a, b))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0))
    return np.asarray(np.divide((x * y).sum(axis=0), size, out=np.full(size.shape, np.nan), where=size > 0))


def _correlations(found: Sums, seed: int) -> Table:
    rows = [Row((_named(a), _named(b)), [_correlation(found, a, b, seed)]) for a, b in PAIRS]
    notes = [
        f"{len(found.candidates)} candidates; brackets are 95% intervals over clusters of cases, for these candidates.",
        "With references a right answer is nearly always a grounded one, so the first correlation is partly built in.",
    ]
    columns = [Column("Spearman", unit="fraction", decimals=2)]
    return Table("Rank correlations between candidates", ("Of", "With"), columns, rows, notes)


def _correlation(found: Sums, a: tuple[str, str], b: tuple[str, str], seed: int) -> Cell:
    clusters = found.whole["rag"].shape[1]
    if len(found.candidates) < FEWEST:
        return Cell(said="too few candidates")
    value = spearman(*(found.shares(each, np.ones((clusters, 1))) for each in (a, b)))[0]
    if np.isnan(value):
        return Cell(said="all alike, or not asked")
    drawn = np.hstack([block.astype(np.float64) for block in resample_weights(clusters, seed)])
    low, high = percentile_interval(spearman(found.shares(a, drawn), found.shares(b, drawn)))
    return Cell(float(value), low, high, n=len(found.candidates), clusters=clusters)


def _named(share: tuple[str, str]) -> str:
    return f"{SHARES[share[0]]} {EVIDENCE[share[1]]}"


def _scatter(run: RunFolder) -> alt.LayerChart:
    told: list[dict[str, Any]] = []
    for candidate in run.candidates:
        for value, words in EVIDENCE.items():
            place: dict[str, float] = {}
            for name, measure in (("grounded", "grounded"), ("right", "hit@1")):
                line = run.line(measure, candidate, {"evidence": value})
                ends = {"": line.value, "_low": line.low, "_high": line.high} if line is not None else {}
                place |= {f"{name}{end}": 100 * at for end, at in ends.items() if at is not None}
            if {"grounded", "right"} <= place.keys():
                told.append({"candidate": candidate, "evidence": words, **place})
    base = alt.Chart(alt.Data(values=told), title=alt.Title("Faithful and right", anchor="start"))
    scale = alt.Scale(domain=[0, 100])
    x, y = (alt.X("grounded:Q", title="Grounded (%)", scale=scale), alt.Y("right:Q", title="Hit@1 (%)", scale=scale))
    colour = alt.Color("evidence:N", sort=list(EVIDENCE.values()), title=None)
    pairs = base.mark_line(color="#bbbbbb", strokeWidth=1).encode(x, y, alt.Detail("candidate:N"))
    across = base.mark_rule(opacity=0.4).encode(
        alt.X("grounded_low:Q", title="Grounded (%)"), alt.X2("grounded_high:Q"), y, colour
    )
    up = base.mark_rule(opacity=0.4).encode(x, alt.Y("right_low:Q", title="Hit@1 (%)"), alt.Y2("right_high:Q"), colour)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, colour)
    names = base.mark_text(align="left", dx=7, fontSize=9).encode(x, y, alt.Text("candidate:N"), colour)
    return (pairs + across + up + dots + names).properties(width=380, height=380)
