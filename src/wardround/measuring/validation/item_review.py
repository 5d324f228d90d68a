"""Item analysis: questions whose answer key may be wrong, for people to review."""

from typing import Any

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.tables import table_schema

STRONG, AT_LEAST = 0.5, 3  # the better half of the candidates, and their minimum number
REVIEW = table_schema(
    *("case", "question", "right", "strong", "strong_right"),
    *("favourite", "favourite_share", "item_total", "reason"),
    **dict.fromkeys(("case", "question", "reason"), pl.String),
    favourite=pl.Int16,
)
MISSED, AGAINST = "all strong candidates miss it", "the better the candidate, the likelier it is wrong"


def items_to_review(marks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Questions that all strong candidates miss, or whose item-total correlation is negative.

    Strong candidates are the better half (at least three) on all other questions. The correlation is
    between being right here and the share right elsewhere, over candidates. `favourite` is the wrong option
    that was chosen most often. A refused answer says nothing about the key.
    """
    scored = marks.lazy().filter(pl.col("outcome").is_in(("right", "wrong", "unparsed")))
    candidates = scored.select(pl.col("candidate").unique()).collect()["candidate"].cast(pl.String).sort().to_list()
    if len(candidates) < AT_LEAST:
        return pl.DataFrame(schema=REVIEW)
    table = _shares_right(scored, candidates)
    shares = exact(table.drop("case", "question").cast(pl.Float64).fill_null(np.nan).to_numpy())
    asked = ~np.isnan(shares)
    total, count = np.nansum(shares, axis=0), asked.sum(axis=0)
    # many questions have the same shares, and with them the same figures
    numbers = np.nan_to_num(shares, nan=-1.0)
    _, first, pattern = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
    figures = [
        _figures(shares[item], total - np.nan_to_num(shares[item]), count - asked[item]) for item in first.tolist()
    ]
    of_patterns = pl.DataFrame(figures, schema={name: REVIEW[name] for name in figures[0]})
    questions = table.select("case", "question").hstack(of_patterns[pattern])
    questions = questions.filter(pl.col("reason").is_not_null())
    own = scored.join(questions.lazy().select("case", "question"), on=("case", "question"), how="semi")
    questions = questions.join(_favourites(own), on=("case", "question"), how="left")
    return questions.select(*REVIEW).sort("strong_right", "item_total", "case", "question", nulls_last=True)


def _shares_right(scored: pl.LazyFrame, candidates: list[str]) -> pl.DataFrame:
    """Each question's share of right answers, a column by candidate; one candidate's marks at a time in memory."""
    right = (pl.col("outcome") == "right").mean()
    table = pl.DataFrame(schema={"case": pl.String, "question": pl.String})
    for name in candidates:
        own = scored.filter(pl.col("candidate") == name).group_by("case", "question").agg(right.alias(name))
        table = table.join(own.collect(engine="streaming"), on=["case", "question"], how="full", coalesce=True)
    return table.sort("case", "question")


def _figures(here: Floats, others: Floats, count: Floats) -> dict[str, Any]:
    """One question, from each candidate's share right here, and the sum and number of its other questions."""
    known = ~np.isnan(here) & (count > 0)
    own, rest = here[known], others[known] / count[known]
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
    """The most frequent wrong option of each question, and its share of the answers."""
    answers = scored.group_by("case", "question").agg(pl.len().alias("answers"))
    return (
        scored.filter(pl.col("outcome") == "wrong", pl.col("option").is_not_null())
        .group_by("case", "question", "option")
        .agg(pl.len().alias("count"))
        .sort("case", "question", "count", "option", descending=[False, False, True, False])
        .unique(["case", "question"], keep="first", maintain_order=True)
        .join(answers, on=("case", "question"))
        .select("case", "question", favourite="option", favourite_share=pl.col("count") / pl.col("answers"))
        .collect(engine="streaming")
    )
