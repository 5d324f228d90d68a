"""The cost of each candidate: calls, tokens, money and time."""

from pathlib import Path

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

NOTES = [
    "Calls, tokens and money cover all answers of the run, including those stored before it. Tokens are counted by "
    "the servers. Money is computed from the candidate's price_in and price_out; without them the cell is empty.",
    "Time is the sum over the answered calls of this run; concurrent calls each count in full. Answers stored before "
    "the run take no time.",
    "GPU hours are the hours in which at least one call was under way, times the candidate's `gpus`; without that key "
    "the cell is empty. The server's other work in that time is counted with it.",
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
    Column("GPU hours", unit="fraction", decimals=3),
]


def cost(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """One row for each candidate, from the manifest."""
    answers = dict(run.marks.group_by("candidate").len().collect().iter_rows())
    rows = []
    for name, entry in run.candidate_entries.items():
        total = entry.get("in_all", entry)
        gpus, busy = entry.get("settings", {}).get("gpus"), entry.get("busy_seconds")
        calls, seconds, bought = entry.get("calls") or 0, entry.get("seconds"), total.get("bought") or 0
        tokens_in, tokens_out, money = (total.get(key) or None for key in ("tokens_in", "tokens_out", "cost"))
        values = [
            answers.get(name),
            total.get("calls") or 0,
            tokens_in,
            tokens_out,
            _divide(tokens_out, bought),
            money,
            _divide(money, bought / 1000),
            seconds if calls else None,
            _divide(seconds, calls),
            busy * gpus / 3600 if gpus and busy and calls else None,
        ]
        rows.append(TableRow((name,), [Cell(None if value is None else float(value)) for value in values]))
    return [Table("What it took", ("Candidate",), COLUMNS, rows, NOTES)], []


def _divide(amount: float | None, divisor: float) -> float | None:
    return None if amount is None or not divisor else amount / divisor
