"""Dose-response: between which severities does a candidate's accuracy fall most?

The steepest fall between neighbouring severities is the cliff, if there is one. The step is chosen on one half of the
clusters and its fall measured on the other, both ways, so that the largest of several chance falls is not a cliff.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.benchmarks.medq_deg.figures.scores import SPLITS, Scores, Values, interval, resampled_halves, scores
from wardround.core.random import stream
from wardround.reporting.absence import NOT_ASKED
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

MIN_CLUSTERS = 8


class Cliff(NamedTuple):
    """The step with the steepest fall, and how much steeper than the mean step it is, with an interval."""

    step: tuple[str, str]
    fall: float
    excess: float
    low: float | None
    high: float | None
    agreement: float  # share of resamples in which this step is the steepest

    @property
    def is_significant(self) -> bool:
        """Whether the fall is steeper than an even decline, beyond chance."""
        return self.low is not None and self.low > 0


def dose_response(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The cliff of each candidate."""
    severities = _ordered_severities(run)
    if len(severities) < 3:
        note("a cliff needs three or more severities")
        return [], []
    run_scores = scores(run, severities)
    rows = [_row(run_scores, index, run.study.seed) for index in range(len(run_scores.candidates))]
    columns = [
        Column("Steepest between", unit="text"),
        Column("Fall there", unit="percent"),
        Column("Steeper than the mean step by", unit="percent"),
        Column("Resamples that choose it", unit="percent", decimals=0),
        Column("Cliff", unit="text"),
    ]
    notes = [
        "The step is chosen on one half of the clusters and measured on the other. If the interval of the third figure "
        "includes zero, the decline may be even, and no cliff is named."
    ]
    return [Table("Where accuracy falls", ("Candidate",), columns, rows, notes)], []


def find_cliff(run_scores: Scores, candidate: int, seed: int) -> Cliff | None:
    """The cliff of one candidate; None if a severity was not asked."""
    clusters = run_scores.right.shape[-1]
    candidate_scores = run_scores._replace(right=run_scores.right[[candidate]], asked=run_scores.asked[[candidate]])
    falls = -np.diff(candidate_scores.accuracy(np.ones(clusters))[0])
    if np.isnan(falls).any():
        return None
    random = stream(seed, f"halves for the cliff of {run_scores.candidates[candidate]}")
    split_falls, resampled_excesses, steepest = [], [], []
    for index, (split, resampled) in enumerate(resampled_halves(clusters, random)):
        if index < SPLITS:
            split_falls.append(_cross_fit(candidate_scores, split))
        resampled_excesses.append(_cross_fit(candidate_scores, resampled)[1])
        steepest.append(int(np.argmax(-np.diff(candidate_scores.accuracy(resampled.sum(axis=0))[0]))))
    step = int(np.argmax(falls))
    fall, excess = np.nanmean(np.array(split_falls), axis=0)
    low, high = interval(np.array(resampled_excesses))
    agreement = float(np.mean(np.array(steepest) == step))
    ends = (run_scores.severities[step], run_scores.severities[step + 1])
    return Cliff(ends, float(fall), float(excess), low, high, agreement)


def _cross_fit(candidate_scores: Scores, split: Values) -> tuple[float, float]:
    """The fall of the step that the other half finds steepest, and its excess over the mean step; both ways."""
    falls = -np.diff(candidate_scores.accuracy(split)[:, 0], axis=-1)
    if np.isnan(falls).any():
        return float("nan"), float("nan")
    cross_fitted = [falls[1 - half][int(np.argmax(falls[half]))] for half in (0, 1)]
    return float(np.mean(cross_fitted)), float(np.mean(cross_fitted) - falls.mean())


def _ordered_severities(run: RunFiles) -> list[str]:
    """L0 and the doses, from mild to severe."""
    severities = {
        line.slice["severity"]
        for line in run.measure_lines
        if list(line.slice) == ["severity"] and line.value is not None
    }
    numbers = {name: 0.0 if name == "L0" else float(name) for name in severities if name == "L0" or _is_number(name)}
    return sorted(numbers, key=lambda name: numbers[name])


def _is_number(name: str) -> bool:
    return name.replace(".", "", 1).isdigit()


def _row(run_scores: Scores, candidate: int, seed: int) -> TableRow:
    label = (run_scores.candidates[candidate],)
    clusters = run_scores.right.shape[-1]
    cliff = find_cliff(run_scores, candidate, seed) if clusters >= MIN_CLUSTERS else None
    if cliff is None:
        reason = "too few cases" if clusters < MIN_CLUSTERS else NOT_ASKED
        return TableRow(label, [Cell(text=reason)] * 5)
    between = f"{cliff.step[0]} and {cliff.step[1]}"
    return TableRow(
        label,
        [
            Cell(text=between),
            Cell(cliff.fall, clusters=clusters),
            Cell(cliff.excess, cliff.low, cliff.high, clusters=clusters),
            Cell(cliff.agreement),
            Cell(text=f"between {between}" if cliff.is_significant else "none found"),
        ],
    )
