"""The settings of every candidate with the verdict on each, as a table."""

from collections.abc import Mapping, Sequence

from wardround.reporting.tables.table import Cell, Column, Table, TableRow
from wardround.running.settings.verdict import SettingVerdict

TITLE = "Settings that took effect"


def settings_table(verdicts_by_candidate: Mapping[str, Sequence[SettingVerdict]]) -> Table | None:
    """One row per candidate and setting; None without any."""
    columns = [Column(heading, unit="text") for heading in ("Asked for", "Verdict", "What shows it")]
    rows = [
        TableRow((name, verdict.setting), [Cell(text=text) for text in _texts(verdict)])
        for name, verdicts in verdicts_by_candidate.items()
        for verdict in verdicts
    ]
    return Table(TITLE, ("Candidate", "Setting"), columns, rows) if rows else None


def _texts(verdict: SettingVerdict) -> tuple[str, str, str]:
    return verdict.asked, verdict.verdict, verdict.evidence
