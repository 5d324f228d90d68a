"""Calibration of each candidate: a reliability diagram and a risk-coverage curve."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from markupsafe import Markup

from wardround.measuring import risk_coverage
from wardround.measuring.engine.encode import encode_once
from wardround.measuring.engine.measure import measure_name
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.measures.reliability import reliability
from wardround.reporting.figures.diagrams import Bin, reliability_diagram, risk_diagram
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.figure_cell import FigureCell, format_line

AT_80_TITLE = "Accuracy at 80% coverage"
BIN_COLUMNS = ("bin_low", "bin_high", "n", "confidence", "accuracy", "low", "high")  # the fields of Bin
GRID = np.linspace(0.01, 1.0, 100)
FIGURES = {
    "ece": "Calibration error",
    "ece_debiased": "debiased",
    "ece_if_calibrated": "by chance",
    "accuracy@80": AT_80_TITLE,
    "coverage@risk10": "Coverage at 10% risk",
    "aurc": "Area under the risk-coverage curve",
}


@dataclass(frozen=True)
class Calibration:
    """One candidate: both diagrams, the figures next to them and the bins behind them."""

    candidate: str
    reliability: Markup
    risk: Markup
    figures: list[tuple[str, FigureCell]]  # with their titles
    bins: list[Bin]
    n: int


def calibrations(run: RunFiles, changed: Mapping[str, str]) -> dict[str, list[Calibration]]:
    """For each source of confidence the candidates that have it, in their order."""
    marks = run.marks_at_reference
    if changed:
        marks = encode_once(marks_at_reference(run.marks, run.study, changed), run.study)
    bins, curves = reliability(marks, run.study), risk_coverage(marks, run.study)
    calibrations_by_source: dict[str, list[Calibration]] = {}
    for source in bins["source"].unique(maintain_order=True):
        risks = _risk_curves(curves.filter(source=source))
        max_risk = 1.0 if any(risk > 0.5 for curve in risks.values() for _, risk in curve) else 0.5
        calibrations_by_source[source] = []
        for name in (name for name in ranked_candidates(run) if name in risks):
            own = bins.filter(source=source, candidate=name).select(BIN_COLUMNS)
            own_bins, figures = [Bin(*row) for row in own.iter_rows()], _figures(run, name, source, changed)
            at_80 = next((cell.line for title, cell in figures if title == AT_80_TITLE), None)
            diagrams = reliability_diagram(own_bins, name), risk_diagram(risks[name], at_80, max_risk, name)
            calibrations_by_source[source].append(
                Calibration(name, *diagrams, figures, own_bins, sum(bin.n for bin in own_bins))
            )
    return calibrations_by_source


def _figures(run: RunFiles, candidate: str, source: str, changed: Mapping[str, str]) -> list[tuple[str, FigureCell]]:
    figures = []
    for measure, title in FIGURES.items():
        name = measure_name(measure, source)
        line = run.find_line(name, candidate, changed)
        if line is not None and line.measure == name:
            figures.append((title, format_line(line)))
    return figures


def _risk_curves(curves: pl.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """For each candidate the risk at every percent of coverage; ties in confidence count in proportion."""
    risks = {}
    for (name,), curve in curves.group_by("candidate", maintain_order=True):
        coverage = np.concatenate([[0.0], curve["coverage"].to_numpy()])
        wrong = np.concatenate([[0.0], (curve["coverage"] * curve["risk"]).to_numpy()])
        risks[str(name)] = list(zip(GRID.tolist(), (np.interp(GRID, coverage, wrong) / GRID).tolist(), strict=True))
    return risks
