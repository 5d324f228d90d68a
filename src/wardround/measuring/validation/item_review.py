"""Item analysis: questions whose key is likely wrong, for people to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats, exact

STRONG, AT_LEAST = 0.5, 3  # the better half of the candidates, and at least so many
REVIEW: dict[str, Any] = {
    "case": pl.String,
    "question": pl.String,
    "right": pl.Float64,
    "strong": pl.Int64,
    "strong_right": pl.Float64,
    "favourite": pl.Int16,
    "favourite_share": pl.Float64,
    "item_total": pl.Float64,
    "reason": pl.String,
}
MISSED, AGAINST = "all strong candidates miss it", "the better the candidate, the likelier it is wrong"


def items_to_review(marks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Questions that all strong candidates miss, or whose item-total correlation is negative.

    Strong are the better half of the candidates (at least three) on all other questions. The correlation is
    between being right here and the share right elsewhere, over candidates. `favourite` is the wrong option
    that was chosen most.
    """
    right = pl.col("outcome") == "right"
    scored = marks.lazy().filter(pl.col("outcome") != "unscored")
    told = scored.group_by("candidate", "case", "question").agg(right.mean().alias("share")).collect()
    if told.is_empty() or told["candidate"].n_unique() < AT_LEAST:
        return pl.DataFrame(schema=REVIEW)
    table = told.pivot("candidate", index=["case", "question"], values="share", sort_columns=True).sort(
        "case", "question"
    )
    shares = exact(table.drop("case", "question").cast(pl.Float64).fill_null(np.nan).to_numpy())
    asked = ~np.isnan(shares)
    total, many = np.nansum(shares, axis=0), asked.sum(axis=0)
    figures = [_judged(here, total - np.nan_to_num(here), many - asked[item]) for item, here in enumerate(shares)]
    found = table.select("case", "question").with_columns(
        pl.Series(name, [each[name] for each in figures], dtype=REVIEW[name]) for name in figures[0]
    )
    found = found.filter(pl.col("reason").is_not_null()).join(_favourites(scored), on=("case", "question"), how="left")
    return found.select(*REVIEW).sort("strong_right", "item_total", "case", "question", nulls_last=True)


def _judged(here: Floats, others: Floats, many: Floats) -> dict[str, Any]:
    """One question, from the share right of each candidate here, and the sum and number of its others."""
    known = ~np.isnan(here) & (many > 0)
    own, rest = here[known], others[known] / many[known]
    strong = max(AT_LEAST, int(np.ceil(STRONG * len(own))))
    best = np.argsort(-rest, kind="stable")[:strong]
    missed = len(own) >= AT_LEAST and float(own[best].max()) == 0.0
    total = _correlation(own, rest)
    against = total is not None and total < 0
    return {
        "right": float(own.mean()) if len(own) else None,
        "strong": len(best),
        "strong_right": float(own[best].mean()) if len(own) else None,
        "item_total": total,
        "reason": MISSED if missed else AGAINST if against else None,
    }


def _correlation(a: Floats, b: Floats) -> float | None:
    if len(a) < AT_LEAST or a.std() == 0 or b.std() == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _favourites(scored: pl.LazyFrame) -> pl.DataFrame:
    """The wrong option that was chosen most in each question, and by which share of the answers."""
    answers = scored.group_by("case", "question").agg(pl.len().alias("answers"))
    return (
        scored.filter(pl.col("outcome") == "wrong", pl.col("option").is_not_null())
        .group_by("case", "question", "option")
        .agg(pl.len().alias("many"))
        .sort("case", "question", "many", "option", descending=[False, False, True, False])
        .unique(["case", "question"], keep="first", maintain_order=True)
        .join(answers, on=("case", "question"))
        .select("case", "question", favourite="option", favourite_share=pl.col("many") / pl.col("answers"))
        .collect()
    )
