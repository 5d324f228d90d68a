"""What a candidate's confidence is worth, drawn: a reliability diagram and a risk-coverage curve each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from markupsafe import Markup

from wardround.measuring import risk_coverage
from wardround.measuring.measures.reliability import reliability
from wardround.reporting.figures.diagrams import Bin, Kept, reliability_diagram, risk_diagram
from wardround.reporting.reference_condition import at_reference, marks_at_reference, ranked
from wardround.reporting.run_files import Measure, RunFolder
from wardround.reporting.tables.forest import said
from wardround.reporting.versions import version_parts

AT_80 = "accuracy@80"
GRID = np.linspace(0.01, 1.0, 100)
FIGURES = (
    ("ece", "plug-in, 10 bins", "Calibration error"),
    ("ece", "debiased, 10 bins", "debiased"),
    ("ece", "plug-in if calibrated, 10 bins", "by chance"),
    (AT_80, "", "Accuracy at 80% coverage"),
)


@dataclass(frozen=True)
class Figure:
    """One figure beside a diagram, as measures.csv has it."""

    title: str
    line: Measure
    value: str | None
    interval: str | None


@dataclass(frozen=True)
class Calibration:
    """One candidate: both drawings, the figures beside them and the bins behind them."""

    candidate: str
    reliability: Markup
    risk: Markup
    figures: list[Figure]
    bins: list[Bin]
    n: int


def calibrations(run: RunFolder, changed: Mapping[str, str]) -> dict[str, list[Calibration]]:
    """By way of confidence (verbal, T=3, inf) the candidates that have any, in their order."""
    marks = marks_at_reference(run, changed)
    bins, curves = reliability(marks, run.as_study), risk_coverage(marks, run.as_study)
    found: dict[str, list[Calibration]] = {}
    for way in bins["version"].unique(maintain_order=True):
        shares = _risks(curves.filter(version=way))
        highest = 1.0 if any(risk > 0.5 for curve in shares.values() for _, risk in curve) else 0.5
        found[way] = [
            _calibration(run, name, way, bins.filter(version=way, candidate=name), shares[name], highest, changed)
            for name in ranked(run)
            if name in shares
        ]
    return found


def _calibration(
    run: RunFolder,
    name: str,
    way: str,
    bins: pl.DataFrame,
    curve: list[tuple[float, float]],
    highest: float,
    changed: Mapping[str, str],
) -> Calibration:
    held = [
        Bin(*row)
        for row in bins.select("bin_low", "bin_high", "n", "confidence", "accuracy", "low", "high").iter_rows()
    ]
    figures = [
        Figure(title, line, *said(line)[:2])
        for measure, apart, title in FIGURES
        if (line := _line(run, measure, name, apart, way, changed)) is not None
    ]
    kept = next((each.line for each in figures if each.line.measure == AT_80 and each.line.value is not None), None)
    at_80 = Kept(0.8, kept.value, kept.low, kept.high) if kept is not None and kept.value is not None else None
    return Calibration(
        name,
        reliability_diagram(held, name),
        risk_diagram(curve, at_80, highest, name),
        figures,
        held,
        sum(each.n for each in held),
    )


def _line(
    run: RunFolder, measure: str, candidate: str, apart: str, way: str, changed: Mapping[str, str]
) -> Measure | None:
    slice = at_reference(run, measure, changed)
    return next(
        (
            line
            for line in run.lines
            if (line.measure, line.candidate) == (measure, candidate)
            and line.slice == slice
            and version_parts(line.version) == (apart, way)
        ),
        None,
    )


def _risks(curves: pl.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Per candidate the risk at every hundredth of coverage; answers that are equally sure are kept by their part."""
    found = {}
    for (name,), curve in curves.group_by("candidate", maintain_order=True):
        kept = np.concatenate([[0.0], curve["coverage"].to_numpy()])
        wrong = np.concatenate([[0.0], (curve["coverage"] * curve["risk"]).to_numpy()])
        found[str(name)] = list(zip(GRID.tolist(), (np.interp(GRID, kept, wrong) / GRID).tolist(), strict=True))
    return found
