"""Rank intervals: the ranks of a candidate that the comparisons leave open."""

from typing import Any

import polars as pl

from wardround.measuring.comparing.families import PEOPLE
from wardround.measuring.engine.tables import table_schema

ALPHA = 0.05
RANKS = table_schema("family", "measure", "candidate", "first", "last")


def rank_intervals(comparisons: pl.DataFrame) -> pl.DataFrame:
    """For each family of all pairs: 1 + the number significantly better, to the number not significantly worse.

    Significance is adjusted for the family (step-down max-T). Families against one reference, and those of models
    and people, give no ranks.
    """
    is_people = pl.col("family").str.starts_with(PEOPLE).fill_null(False)
    between = comparisons.filter(pl.col("slice").str.json_path_match("$.candidate").is_null(), ~is_people)
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
