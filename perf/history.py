"""perf/history.csv: every figure that `python -m perf` measured, so that a loss is seen.

A row holds date, commit, part, its options, the figure, its value (the median of the rounds), the least and the most
of the rounds, their number, and the machine's load. Only figures with equal options can be compared.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

FILE = Path(__file__).with_name("history.csv")
COLUMNS = ("date", "commit", "part", "options", "figure", "value", "least", "most", "rounds", "load")
DIGITS = 5  # significant ones that are kept


@dataclass(frozen=True)
class Measurement:
    """The part that is being measured, with its options."""

    part: str
    options: str
    date: str
    commit: str


_measuring: Measurement | None = None


@contextmanager
def recording(part: str, options: Sequence[str]) -> Iterator[None]:
    """What is measured inside belongs to this part; outside of it nothing is written."""
    global _measuring
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _measuring = Measurement(part, " ".join(options), date, _commit())
    try:
        yield
    finally:
        _measuring = None


def record(figure: str, rounds: Sequence[float], *, file: Path = FILE) -> str | None:
    """Appends the rounds of a figure. Returns in words what the last row with equal options says, if there is one."""
    if _measuring is None:
        return None
    before = _last(file, _measuring, figure)
    load = f"{os.getloadavg()[0]:.1f}"
    spread = [f"{value:.{DIGITS}g}" for value in (median(rounds), min(rounds), max(rounds))]
    is_new = not file.exists()
    with file.open("a", newline="") as rows:
        writer = csv.writer(rows, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        place = (_measuring.date, _measuring.commit, _measuring.part, _measuring.options)
        writer.writerow((*place, figure, *spread, len(rounds), load))
    return before


def read(file: Path = FILE) -> list[dict[str, str]]:
    """All rows, the oldest first."""
    if not file.exists():
        return []
    with file.open(newline="") as rows:
        return list(csv.DictReader(rows))


def _last(file: Path, now: Measurement, figure: str) -> str | None:
    own = (now.part, now.options, figure)
    rows = [row for row in read(file) if (row["part"], row["options"], row["figure"]) == own]
    return f"{rows[-1]['value']} on {rows[-1]['date'][:10]} at {rows[-1]['commit']}" if rows else None


def _commit() -> str:
    """The commit that is measured, with a `+` if the sources differ from it."""
    folder = FILE.parent.parent
    try:
        commit = _git(folder, "rev-parse", "--short=10", "HEAD")
        return commit + ("+" if _git(folder, "status", "--porcelain", "--", "src", "perf/*.py") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
