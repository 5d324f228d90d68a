"""The tables of Figure 4: companions of the calibration shift, and the Dunning-Kruger effect in both forms.

A shift of zero does not mean calibrated, and the shift contains minus the accuracy, so that noise alone gives weaker
candidates larger shifts. So neither is reported as a bare yes.
"""

from pathlib import Path

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.reporting.run_files import ALL_CANDIDATES, RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

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


def fig4(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Companions of the shift, the Dunning-Kruger effect within candidates, and between them."""
    return [_companions(run), _intra(run), _inter(run)], []


def _companions(run: RunFiles) -> Table:
    columns = [Column(name, level, "fraction", 3) for level in LEVELS for name in COMPANIONS.values()]
    keys = [(level, *companion) for level in LEVELS for companion in COMPANIONS]
    rows = [
        TableRow(
            (candidate,),
            [_cell(run, measure, candidate, {"severity": level}, version) for level, measure, version in keys],
        )
        for candidate in run.candidates
    ]
    notes = ["A calibrated respondent with the same votes also has a shift: C = 1 - H / log K is not a probability."]
    return Table("Beside the calibration shift", ("Candidate",), columns, rows, notes)


def _intra(run: RunFiles) -> Table:
    rows = [
        TableRow((candidate,), [_cell(run, "dke_intra", candidate, {}, version) for version in INTRA])
        for candidate in run.candidates
    ]
    notes = ["The effect: accuracy falls from L0 to L2 and the shift does not. L0 is each question's own clean twin."]
    return Table("Dunning-Kruger effect within candidates", ("Candidate",), list(INTRA.values()), rows, notes)


def _inter(run: RunFiles) -> Table:
    rows = [
        TableRow((level,), [_cell(run, "dke_inter", ALL_CANDIDATES, {"severity": level}, version) for version in INTER])
        for level in LEVELS
    ]
    notes = [
        "The shift contains minus the accuracy, so noise alone produces most pairs: the second figure says how many. "
        "The third takes accuracy and shift from different cases.",
        f"{len(run.candidates)} candidates.",
    ]
    return Table("Dunning-Kruger effect between candidates", ("Severity",), list(INTER.values()), rows, notes)


def _cell(run: RunFiles, measure: str, candidate: str, slice: dict[str, str], version: str) -> Cell:
    key = (measure, candidate, slice)
    lines = (line for line in run.measure_lines if (line.measure, line.candidate, dict(line.slice)) == key)
    line = next((line for line in lines if (line.version or "").startswith(version)), None)
    if line is None or line.value is None:
        return Cell(text="not measured")
    return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed)
