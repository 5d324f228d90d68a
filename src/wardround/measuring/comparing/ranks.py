"""Rank intervals: how far a candidate's place in a table is settled."""

from __future__ import annotations

from typing import Any

import polars as pl

from wardround.measuring.comparing.families import PEOPLE

ALPHA = 0.05
RANKS: dict[str, Any] = {
    "family": pl.String,
    "measure": pl.String,
    "candidate": pl.String,
    "first": pl.Int64,
    "last": pl.Int64,
}


def rank_intervals(comparisons: pl.DataFrame) -> pl.DataFrame:
    """For each family of all pairs: 1 + the number significantly better, to the number not significantly worse.

    Significant is adjusted for the family (step-down max-T). A family against one reference ranks nobody,
    nor does that of models and people.
    """
    of_people = pl.col("family").str.starts_with(PEOPLE).fill_null(False)
    between = comparisons.filter(pl.col("slice") == "{}", ~of_people)
    rows: list[dict[str, Any]] = []
    for (family, measure), pairs in between.group_by("family", "measure", maintain_order=True):
        names = list(dict.fromkeys(name for pair in pairs.select("a", "b").rows() for name in pair))
        if len(pairs) < len(names) * (len(names) - 1) // 2:
            continue
        better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
        for a, b, value, p in pairs.select("a", "b", "value", "p_adjusted").iter_rows():
            if p is not None and p <= ALPHA and value:
                winner, loser = (a, b) if value > 0 else (b, a)
                better[loser] += 1
                worse[winner] += 1
        rows += [
            {
                "family": family,
                "measure": measure,
                "candidate": name,
                "first": 1 + better[name],
                "last": len(names) - worse[name],
            }
            for name in names
        ]
    return pl.DataFrame(rows, schema=RANKS)
