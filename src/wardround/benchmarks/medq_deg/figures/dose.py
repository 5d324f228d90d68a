"""Dose-response: where, on the way from L0 to L2, does a candidate fall?

The steepest fall between neighbouring severities is the cliff, if there is one. The step is chosen on one half of the
clusters and its fall taken on the other, both ways, so that the largest of several chance falls is not called a cliff.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wardround.benchmarks.medq_deg.figures.scores import RESAMPLES, Scores, Values, halves, interval, redrawn, scores
from wardround.core.random import stream
from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

SPLITS = 200
FEWEST_CLUSTERS = 8


class Cliff(NamedTuple):
    """The step with the steepest fall, that fall, by how much it is steeper than the mean step, and how sure it is."""

    step: tuple[str, str]
    fall: float
    excess: float
    low: float | None
    high: float | None
    chosen: float  # share of resamples in which this step is the steepest

    @property
    def is_one(self) -> bool:
        """Whether the fall stands out from an even decline beyond chance."""
        return self.low is not None and self.low > 0


def dose_response(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Where each candidate's cliff is."""
    severities = _in_order(run)
    if len(severities) < 3:
        note("a cliff needs three or more severities")
        return [], []
    found = scores(run, severities)
    rows = [_row(found, place, run.as_study.seed) for place in range(len(found.candidates))]
    columns = [
        Column("Steepest between", unit="text"),
        Column("Fall there", unit="percent"),
        Column("Steeper than the mean step by", unit="percent"),
        Column("Resamples that choose it", unit="percent", decimals=0),
        Column("Cliff", unit="text"),
    ]
    notes = [
        "The step is chosen on half of the clusters and measured on the other. Where the interval of the third figure "
        "includes zero, the fall is as even as chance would have it, and no cliff is named."
    ]
    return [Table("Where accuracy falls", ("Candidate",), columns, rows, notes)], []


def cliff(found: Scores, candidate: int, seed: int) -> Cliff | None:
    """The cliff of one candidate; None where some severity was not asked."""
    clusters = found.right.shape[-1]
    own = found._replace(right=found.right[[candidate]], asked=found.asked[[candidate]])
    falls = -np.diff(own.accuracy(np.ones(clusters))[0])
    if np.isnan(falls).any():
        return None
    random = stream(seed, f"halves for the cliff of {found.candidates[candidate]}")
    whole, drawn, chosen = [], [], []
    for number in range(RESAMPLES):
        split = halves(clusters, random)
        if number < SPLITS:
            whole.append(_crossed(own, np.array(split)))
        again = np.array([redrawn(half, random) for half in split])
        drawn.append(_crossed(own, again)[1])
        chosen.append(int(np.argmax(-np.diff(own.accuracy(again.sum(axis=0))[0]))))
    step = int(np.argmax(falls))
    fall, excess = np.nanmean(np.array(whole), axis=0)
    low, high = interval(np.array(drawn))
    share = float(np.mean(np.array(chosen) == step))
    return Cliff((found.severities[step], found.severities[step + 1]), float(fall), float(excess), low, high, share)


def _crossed(own: Scores, split: Values) -> tuple[float, float]:
    """The fall of the step that the other half finds steepest, and its excess over the mean step; both ways."""
    falls = -np.diff(own.accuracy(split)[:, 0], axis=-1)
    if np.isnan(falls).any():
        return float("nan"), float("nan")
    met = [falls[1 - half][int(np.argmax(falls[half]))] for half in (0, 1)]
    return float(np.mean(met)), float(np.mean(met) - falls.mean())


def _in_order(run: RunFolder) -> list[str]:
    """L0 and the doses, from mild to severe."""
    found = {
        line.slice["severity"] for line in run.lines if list(line.slice) == ["severity"] and line.value is not None
    }
    numbers = {name: 0.0 if name == "L0" else float(name) for name in found if name == "L0" or _is_number(name)}
    return sorted(numbers, key=lambda name: numbers[name])


def _is_number(name: str) -> bool:
    return name.replace(".", "", 1).isdigit()


def _row(found: Scores, candidate: int, seed: int) -> Row:
    label = (found.candidates[candidate],)
    clusters = found.right.shape[-1]
    at = cliff(found, candidate, seed) if clusters >= FEWEST_CLUSTERS else None
    if at is None:
        said = "too few cases" if clusters < FEWEST_CLUSTERS else "not asked"
        return Row(label, [Cell(said=said)] * 5)
    between = f"{at.step[0]} and {at.step[1]}"
    return Row(
        label,
        [
            Cell(said=between),
            Cell(at.fall, clusters=clusters),
            Cell(at.excess, at.low, at.high, clusters=clusters),
            Cell(at.chosen),
            Cell(said=f"between {between}" if at.is_one else "none found"),
        ],
    )
