"""Faithfulness: how often answers are grounded in the documents, against how often they are right or invented."""

from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.benchmarks.cure.figures.answers import IMAGES, open_answers
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.measuring.engine.correlation import spearman
from wardround.measuring.engine.resampling.bootstrap import resample_weights
from wardround.measuring.engine.resampling.percentiles import percentile_interval
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

Values = NDArray[np.float64]
EVIDENCE = {"reference": "with references", "rag": "with RAG", "agent": "with agent retrieval"}
SHARES = {"grounded": "Grounded", "right": "Hit@1", "misled": "Evidence-misled", "hallucinated": "Hallucination"}
PAIRS = (
    *((("grounded", evidence), ("right", evidence)) for evidence in EVIDENCE),
    *((("grounded", "reference"), ("misled", evidence)) for evidence in ("rag", "agent")),
    *((("grounded", evidence), ("hallucinated", evidence)) for evidence in EVIDENCE),
)
PANELS = {"right": ("hit@1", "Hit@1 (%)"), "hallucinated": ("hallucination", "Hallucination (%)")}
MIN_CANDIDATES = 4
NAMES_PER_LINE = 4  # in the subtitle of the figure


class AnswerSums(NamedTuple):
    """Answers, and those grounded, right, misled, invented: candidates x clusters, by share and evidence."""

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
        grounded, right = bool(row["grounded"]), bool(row["right"])
        flags = {"grounded": grounded, "right": right, "misled": grounded and not right}
        flags["hallucinated"] = not grounded and not right
        for share, is_set in flags.items():
            parts[share, evidence][position] += bool(is_set)
    return AnswerSums(run.candidates, parts, totals)


def _correlations(sums: AnswerSums, seed: int) -> Table:
    rows = [TableRow((_label(a), _label(b)), [_correlation(sums, a, b, seed)]) for a, b in PAIRS]
    notes = [
        f"{len(sums.candidates)} candidates; brackets are 95% intervals over clusters of cases, for these candidates.",
        "With references a right answer is nearly always a grounded one, so the first correlation is partly built in. "
        "A hallucination is wrong and not grounded, so its negative correlation with groundedness is partly built in.",
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


def _scatter(run: RunFiles) -> alt.HConcatChart:
    """Groundedness against Hit@1 and against hallucination; the points of one candidate are joined."""
    points: list[dict[str, Any]] = []
    for candidate in run.candidates:
        for evidence, words in EVIDENCE.items():
            point: dict[str, float] = {}
            for name, measure in (("grounded", "grounded"), *((name, PANELS[name][0]) for name in PANELS)):
                line = run.find_line(measure, candidate, {"evidence": evidence})
                bounds = {"": line.value, "_low": line.low, "_high": line.high} if line is not None else {}
                point |= {f"{name}{end}": 100 * figure for end, figure in bounds.items() if figure is not None}
            if {"grounded", *PANELS} <= point.keys():
                points.append({"candidate": candidate, "evidence": words, **point})
    numbers = {candidate: str(number) for number, candidate in enumerate(run.candidates, start=1)}
    points = [{**point, "number": numbers[point["candidate"]]} for point in points]
    names = [f"{number} {run.printed_name(candidate)}" for candidate, number in numbers.items()]
    lines = [",  ".join(names[start : start + NAMES_PER_LINE]) for start in range(0, len(names), NAMES_PER_LINE)]
    title = alt.Title("Groundedness against Hit@1 and hallucination, by candidate", subtitle=lines, anchor="start")
    chart: alt.HConcatChart = alt.hconcat(*(_panel(points, name) for name in PANELS), title=title)
    return chart


def _panel(points: list[dict[str, Any]], name: str) -> alt.LayerChart:
    base, heading = alt.Chart(alt.Data(values=points)), PANELS[name][1]
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("grounded:Q", title="Grounded (%)", scale=scale)
    y = alt.Y(f"{name}:Q", title=heading, scale=scale)
    legend = alt.Legend(orient="bottom", labelLimit=0, symbolOpacity=1)
    colour = alt.Color("evidence:N", sort=list(EVIDENCE.values()), title=None, legend=legend)
    pairs = base.mark_line(color="#bbbbbb", strokeWidth=1).encode(x, y, alt.Detail("candidate:N"))
    across = base.mark_rule(opacity=0.4).encode(
        alt.X("grounded_low:Q", title="Grounded (%)"), alt.X2("grounded_high:Q"), y, colour
    )
    up = base.mark_rule(opacity=0.4).encode(x, alt.Y(f"{name}_low:Q", title=heading), alt.Y2(f"{name}_high:Q"), colour)
    dots = base.mark_point(filled=True, size=170, opacity=1).encode(x, y, colour)
    names = base.mark_text(fontSize=10, fontWeight="bold", color="white").encode(x, y, alt.Text("number:N"))
    chart: alt.LayerChart = (pairs + across + up + dots + names).properties(width=330, height=330)
    return chart
