"""Faithfulness: how often answers are grounded in the documents, against how often they are right."""

from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.benchmarks.cure.figures.answers import IMAGES, open_answers
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.engine.bootstrap import percentile_interval, resample_weights
from wardround.measuring.engine.correlation import spearman
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

Values = NDArray[np.float64]
EVIDENCE = {"reference": "with references", "rag": "with RAG"}
SHARES = {"grounded": "Grounded", "right": "Hit@1", "misled": "Evidence-misled"}
PAIRS = (
    (("grounded", "reference"), ("right", "reference")),
    (("grounded", "rag"), ("right", "rag")),
    (("grounded", "reference"), ("misled", "rag")),
)
MIN_CANDIDATES = 4


class AnswerSums(NamedTuple):
    """Answers, and those grounded, right and misled: candidates x clusters, by share and evidence."""

    candidates: list[str]
    parts: dict[tuple[str, str], Values]
    totals: dict[str, Values]

    def shares(self, share: tuple[str, str], weights: Values) -> Values:
        """The shares with each cluster weighted (clusters x resamples): candidates x resamples."""
        counted, total = self.parts[share] @ weights, self.totals[share[1]] @ weights
        return np.asarray(np.divide(counted, total, out=np.full(counted.shape, np.nan), where=total > 0))


def faithfulness(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The scatter plot, and the rank correlations between candidates."""
    table = _correlations(answer_sums(run), run.study.seed)
    return [table], write_chart(_scatter(run), folder, "faithfulness", note)


def answer_sums(run: RunFiles) -> AnswerSums:
    """The sums over the answers whose grounding was judged."""
    answers = open_answers(run).filter(pl.col("inputs") == IMAGES, pl.col("grounded").is_not_null())
    clusters = {name: index for index, name in enumerate(sorted(set(answers["cluster"])))}
    shape = len(run.candidates), len(clusters)
    parts = {(share, evidence): np.zeros(shape) for share in SHARES for evidence in EVIDENCE}
    totals = {evidence: np.zeros(shape) for evidence in EVIDENCE}
    for row in answers.filter(pl.col("evidence").is_in(list(EVIDENCE))).iter_rows(named=True):
        position, evidence = (run.candidates.index(row["candidate"]), clusters[row["cluster"]]), row["evidence"]
        totals[evidence][position] += 1
        flags = {"grounded": row["grounded"], "right": row["right"], "misled": row["grounded"] and not row["right"]}
        for share, is_set in flags.items():
            parts[share, evidence][position] += bool(is_set)
    return AnswerSums(run.candidates, parts, totals)


def _correlations(sums: AnswerSums, seed: int) -> Table:
    rows = [TableRow((_label(a), _label(b)), [_correlation(sums, a, b, seed)]) for a, b in PAIRS]
    notes = [
        f"{len(sums.candidates)} candidates; brackets are 95% intervals over clusters of cases, for these candidates.",
        "With references a right answer is nearly always a grounded one, so the first correlation is partly built in.",
    ]
    columns = [Column("Spearman", unit="fraction", decimals=2)]
    return Table("Rank correlations between candidates", ("Of", "With"), columns, rows, notes)


def _correlation(sums: AnswerSums, first: tuple[str, str], second: tuple[str, str], seed: int) -> Cell:
    clusters = sums.totals["rag"].shape[1]
    if len(sums.candidates) < MIN_CANDIDATES:
        return Cell(text="too few candidates")
    value = spearman(*(sums.shares(share, np.ones((clusters, 1))).T for share in (first, second)))[0]
    if np.isnan(value):
        return Cell(text="all alike, or not asked")
    weights = np.hstack([block.astype(np.float64) for block in resample_weights(clusters, seed)])
    low, high = percentile_interval(spearman(sums.shares(first, weights).T, sums.shares(second, weights).T))
    return Cell(float(value), low, high, n=len(sums.candidates), clusters=clusters)


def _label(share: tuple[str, str]) -> str:
    return f"{SHARES[share[0]]} {EVIDENCE[share[1]]}"


def _scatter(run: RunFiles) -> alt.LayerChart:
    points: list[dict[str, Any]] = []
    for candidate in run.candidates:
        for evidence, words in EVIDENCE.items():
            point: dict[str, float] = {}
            for name, measure in (("grounded", "grounded"), ("right", "hit@1")):
                line = run.find_line(measure, candidate, {"evidence": evidence})
                bounds = {"": line.value, "_low": line.low, "_high": line.high} if line is not None else {}
                point |= {f"{name}{end}": 100 * figure for end, figure in bounds.items() if figure is not None}
            if {"grounded", "right"} <= point.keys():
                points.append({"candidate": candidate, "evidence": words, **point})
    base = alt.Chart(alt.Data(values=points), title=alt.Title("Faithful and right", anchor="start"))
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
    chart: alt.LayerChart = (pairs + across + up + dots + names).properties(width=380, height=380)
    return chart
