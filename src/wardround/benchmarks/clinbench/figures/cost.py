"""What each candidate took: calls, tokens, money and time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wardround.reporting.run_files import RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table

NOTES = [
    "Calls, tokens and money are of all answers of the run, also of those that were stored before it. Tokens are as "
    "the servers count them. Money follows from price_in and price_out of the candidate; without them there is none.",
    "Time is that of the answered calls of this run added up: calls that ran at once count each. Answers that were "
    "stored before took none.",
]
COLUMNS = [
    Column("Answers", unit="count"),
    Column("Calls", unit="count"),
    Column("in", over="Tokens", unit="count"),
    Column("out", over="Tokens", unit="count"),
    Column("out, an answer", over="Tokens", unit="fraction"),
    Column("USD", unit="fraction", decimals=3),
    Column("USD, 1,000 answers", unit="fraction", decimals=3),
    Column("Seconds", unit="fraction"),
    Column("Seconds, a call", unit="fraction", decimals=3),
]


def cost(run: RunFolder, folder: Path, note: Callable[[str], None]) -> tuple[list[Table], list[Path]]:
    """One row for each candidate, from the manifest."""
    answers = dict(run.marks.group_by("candidate").len().collect().iter_rows())
    rows = []
    for name, told in run.about.items():
        all = told.get("in_all", told)
        own, seconds, bought = told.get("calls") or 0, told.get("seconds"), all.get("bought") or 0
        tokens_in, tokens_out, paid = (all.get(name) or None for name in ("tokens_in", "tokens_out", "cost"))
        figures = [
            answers.get(name),
            all.get("calls") or 0,
            tokens_in,
            tokens_out,
            _over(tokens_out, bought),
            paid,
            _over(paid, bought / 1000),
            seconds if own else None,
            _over(seconds, own),
        ]
        rows.append(Row((name,), [Cell(None if figure is None else float(figure)) for figure in figures]))
    return [Table("What it took", ("Candidate",), COLUMNS, rows, NOTES)], []


def _over(part: float | None, whole: float) -> float | None:
    return None if part is None or not whole else part / whole
