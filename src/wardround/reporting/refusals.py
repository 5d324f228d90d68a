"""The note on refused questions: how many there are, why, and whether they count."""

import polars as pl

from wardround.reporting.numbers import count
from wardround.reporting.run_files import RunFiles

RULES = {"wrong": "counted as not right", "left out": "left out of every score"}


def refusals_note(run: RunFiles) -> str:
    """`Refused and counted as not right: 10 content filter, 2 too long.`; empty if no answer was refused."""
    if not run.has_refusals:
        return ""
    refused = run.all_marks.filter(pl.col("outcome") == "refused")
    reasons = refused.group_by("rule").agg(pl.len()).sort("len", "rule", descending=[True, False]).collect()
    parts = ", ".join(f"{count(number)} {reason}" for reason, number in reasons.iter_rows())
    return f"Refused and {RULES[run.study.refusals]}: {parts}."
