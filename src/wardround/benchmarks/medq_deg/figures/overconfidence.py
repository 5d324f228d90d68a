"""The tables of Figure 4: companions of the calibration shift, and the Dunning-Kruger effect in both forms.

A shift of zero does not mean calibrated, and the shift contains minus the accuracy, so that noise alone gives weaker
candidates larger shifts. So neither is reported as a bare yes.
"""

from pathlib import Path

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.reporting.absence import NOT_MEASURED
from wardround.reporting.run_files import ALL_CANDIDATES, RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

LEVELS = ("L0", "L1", "L2")
INTRA = {
    "dke_intra": Column("Resamples in which both hold", unit="percent", decimals=0),
    "dke_intra_fall_in_accuracy": Column("Accuracy falls by", unit="fraction", decimals=3),
    "dke_intra_rise_in_shift": Column("Shift rises by", unit="fraction", decimals=3),
}
INTER = {
    "dke_inter": Column("Pairs in which the weaker has the larger shift", unit="percent", decimals=0),
    "dke_inter_by_chance": Column("The same by chance", unit="percent", decimals=0),
    "dke_inter_cross_fitted": Column("On different cases", unit="percent", decimals=0),
    "dke_inter_spearman_shift": Column("Spearman of accuracy with shift", unit="fraction", decimals=2),
    "dke_inter_spearman_confidence": Column("Spearman of accuracy with confidence", unit="fraction", decimals=2),
}
COMPANIONS = {
    "calibration_shift_of_vote_share": "vote share - majority accuracy",
    "brier": "Brier",
    "calibration_shift_if_calibrated": "shift if calibrated",
}


def fig4(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """Companions of the shift, the Dunning-Kruger effect within candidates, and between them."""
    return [_companions(run), _intra(run), _inter(run)], []


def _companions(run: RunFiles) -> Table:
    columns = [Column(name, level, "fraction", 3) for level in LEVELS for name in COMPANIONS.values()]
    keys = [(level, measure) for level in LEVELS for measure in COMPANIONS]
    rows = [
        TableRow((candidate,), [_cell(run, measure, candidate, {"severity": level}) for level, measure in keys])
        for candidate in run.candidates
    ]
    notes = ["A calibrated respondent with the same votes also has a shift: C = 1 - H / log K is not a probability."]
    return Table("Beside the calibration shift", ("Candidate",), columns, rows, notes)


def _intra(run: RunFiles) -> Table:
    rows = [
        TableRow((candidate,), [_cell(run, measure, candidate, {}) for measure in INTRA])
        for candidate in run.candidates
    ]
    notes = ["The effect: accuracy falls from L0 to L2 and the shift does not. L0 is each question's own clean twin."]
    return Table("Dunning-Kruger effect within candidates", ("Candidate",), list(INTRA.values()), rows, notes)


def _inter(run: RunFiles) -> Table:
    rows = [
        TableRow((level,), [_cell(run, measure, ALL_CANDIDATES, {"severity": level}) for measure in INTER])
        for level in LEVELS
    ]
    notes = [
        "The shift contains minus the accuracy, so noise alone produces most pairs: the second figure says how many. "
        "The third takes accuracy and shift from different cases.",
        f"{len(run.candidates)} candidates.",
    ]
    return Table("Dunning-Kruger effect between candidates", ("Severity",), list(INTER.values()), rows, notes)


def _cell(run: RunFiles, measure: str, candidate: str, slice: dict[str, str]) -> Cell:
    line = run.find_line(measure, candidate, slice)
    if line is None or line.value is None:
        return Cell(text=NOT_MEASURED)
    return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed, line.refused)
