"""What each candidate took: calls, tokens, money and time, of all starts of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.reporting.run import RunFolder
from wardround.reporting.table import Cell, Column, Row, Table

NOTES = [
    "Tokens are as the servers count them. Money follows from price_in and price_out of the candidate; without them "
    "there is none.",
    "Time is that of the answered calls added up: calls that ran at once count each. Answers that were stored before "
    "took none, and are in Answers only.",
]
COLUMNS = [
    Column("Answers", unit="count"),
    Column("Calls", unit="count"),
    Column("in", over="Tokens", unit="count"),
    Column("out", over="Tokens", unit="count"),
    Column("out, a new answer", over="Tokens", unit="fraction"),
    Column("USD", unit="fraction", decimals=3),
    Column("USD, 1,000 new answers", unit="fraction", decimals=3),
    Column("Seconds", unit="fraction"),
    Column("Seconds, a call", unit="fraction", decimals=3),
]


def cost(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """One row for each candidate, from the manifest."""
    answers = dict(run.marks.group_by("candidate").len().collect().iter_rows())
    rows = []
    for name, told in run.about.items():
        calls, seconds = told.get("calls") or 0, told.get("seconds")
        paid, new = told.get("cost") or None, told.get("bought") or 0
        figures = [
            answers.get(name),
            calls,
            told.get("tokens_in") or None,
            told.get("tokens_out") or None,
            _over(told.get("tokens_out") or None, new),
            paid,
            _over(paid, new / 1000),
            seconds if calls else None,
            _over(seconds, calls),
        ]
        rows.append(Row((name,), [Cell(None if figure is None else float(figure)) for figure in figures]))
    return [Table("What it took", ("Candidate",), COLUMNS, rows, NOTES)], []


def _over(part: float | None, whole: float) -> float | None:
    return None if part is None or not whole else part / whole
