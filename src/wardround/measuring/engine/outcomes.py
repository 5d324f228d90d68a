"""Outcomes of answers: right, wrong, unparsed and unscored are four things."""

from __future__ import annotations

import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.item_sums import Marked

HITS = (1, 3)


def outcome_sums(marks: Marked) -> dict[str, Floats]:
    """How many marks of each item came out how."""
    many = marks.total(marks.outcome("unscored") | True)
    unscored, unparsed, right = (marks.total(marks.outcome(name)) for name in ("unscored", "unparsed", "right"))
    scored = many - unscored
    return {
        "marks": many,
        "unscored": unscored,
        "answers": scored,
        "scored": scored,
        "right": right,
        "wrong": scored - right - unparsed,
        "unparsed": unparsed,
        "parsed": scored - unparsed,
        "parsed_answers": scored - unparsed,
    }


def hit_sums(marks: Marked) -> dict[str, Floats]:
    """hit@k: any of the first k judged the same is 1; else any of them unscored is unscored; else 0."""
    found: dict[str, Floats] = {}
    if not marks.flags("open").any():
        return found
    hits = (
        marks.frame["hits"] if marks.has("hits") else pl.Series("hits", [None] * len(marks.frame), pl.List(pl.Boolean))
    )
    is_open, judged = marks.flags("open"), hits.is_not_null().to_numpy()
    for k in HITS:
        first = hits.list.head(k)
        same = first.list.any().fill_null(False).to_numpy() & is_open
        whole = (first.list.drop_nulls().list.len() == first.list.len()).fill_null(False).to_numpy()
        settled = same | (is_open & (judged & whole | ~judged & ~marks.outcome("unscored")))
        found |= {f"hit@{k}": marks.total(same), f"hit@{k}_of": marks.total(settled)}
    return found
