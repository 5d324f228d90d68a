"""Figure 4's company: what a calibration shift alone does not say, and the Dunning-Kruger effect in both forms.

A shift of zero does not mean calibrated, and shift contains minus accuracy, so that weaker candidates have larger
shifts by noise alone. Neither is ever a bare yes here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.reporting.run_files import TOGETHER, Measure, RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

LEVELS = ("L0", "L1", "L2")
INTRA = {
    "both hold, matched originals": Column("Resamples in which both hold", unit="percent", decimals=0),
    "accuracy L0 - L2": Column("Accuracy falls by", unit="fraction", decimals=3),
    "shift L2 - L0": Column("Shift rises by", unit="fraction", decimals=3),
}
INTER = {
    "T=": Column("Pairs in which the weaker has the larger shift", unit="percent", decimals=0),
    "share by permutation": Column("The same by chance", unit="percent", decimals=0),
    "cross-fitted share": Column("On different cases", unit="percent", decimals=0),
    "Spearman(accuracy, shift)": Column("Spearman of accuracy with shift", unit="fraction", decimals=2),
    "Spearman(accuracy, C)": Column("Spearman of accuracy with confidence", unit="fraction", decimals=2),
}
COMPANIONS = {
    ("calibration_shift", "vote share - majority accuracy"): "vote share - majority accuracy",
    ("brier", ""): "Brier",
    ("calibration_shift", "of a calibrated respondent"): "shift if calibrated",
}


def fig4(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """Three tables beside the figure: companions of the shift, DKE within candidates, DKE between them."""
    return [_companions(run), _intra(run), _inter(run)], []


def _companions(run: RunFolder) -> Table:
    columns = [Column(name, level, "fraction", 3) for level in LEVELS for name in COMPANIONS.values()]
    rows = [
        Row(
            (candidate,),
            [
                _cell(run, measure, candidate, {"severity": level}, version)
                for level in LEVELS
                for measure, version in COMPANIONS
            ],
        )
        for candidate in run.candidates
    ]
    notes = ["A calibrated respondent with the same votes has a shift too: C = 1 - H / log K is no probability."]
    return Table("Beside the calibration shift", ("Candidate",), columns, rows, notes)


def _intra(run: RunFolder) -> Table:
    rows = [
        Row((candidate,), [_cell(run, "dke_intra", candidate, {}, version) for version in INTRA])
        for candidate in run.candidates
    ]
    notes = ["The effect: accuracy falls from L0 to L2 and the shift does not. L0 is each question's own clean twin."]
    return Table("Dunning-Kruger effect within candidates", ("Candidate",), list(INTRA.values()), rows, notes)


def _inter(run: RunFolder) -> Table:
    rows = [
        Row((level,), [_cell(run, "dke_inter", TOGETHER, {"severity": level}, version) for version in INTER])
        for level in LEVELS
    ]
    notes = [
        "Since the shift contains minus the accuracy, noise alone gives most pairs: the second figure says how many. "
        "The third takes accuracy and shift from different cases.",
        f"{len(run.candidates)} candidates.",
    ]
    return Table("Dunning-Kruger effect between candidates", ("Severity",), list(INTER.values()), rows, notes)


def _cell(run: RunFolder, measure: str, candidate: str, slice: dict[str, str], version: str) -> Cell:
    line = _line(run, measure, candidate, slice, version)
    if line is None or line.value is None:
        return Cell(said="not measured")
    return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed)


def _line(run: RunFolder, measure: str, candidate: str, slice: dict[str, str], version: str) -> Measure | None:
    for line in run.lines:
        told = (line.measure, line.candidate, dict(line.slice))
        if told == (measure, candidate, slice) and (line.version or "").startswith(version):
            return line
    return None
