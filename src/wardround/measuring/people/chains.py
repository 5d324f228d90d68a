"""Complete chains of people: a chain is one person's, and right only if every stage of it is (X-PCR's CCR)."""

from __future__ import annotations

import polars as pl

CHAIN = ("case", "chain")
SITTING = ("candidate", *CHAIN, "person", "trial")


def chains_of(answered: pl.DataFrame, marks: pl.LazyFrame) -> pl.DataFrame:
    """One line a chain that somebody answered whole; its keys are those of its last question, in the order of names.

    All questions of a chain that the run asked of anybody must be there and scored, as with models.
    """
    linked = marks.filter(pl.col("chain").is_not_null()).select(*CHAIN, "question").unique()
    links = linked.group_by(CHAIN).agg(links=pl.len()).collect()
    sat = answered.filter(pl.col("chain").is_not_null()).sort(*SITTING, "question")
    others = [name for name in sat.columns if name not in (*SITTING, "value", "unparsed")]
    whole = sat.group_by(SITTING, maintain_order=True).agg(
        pl.col("value").min(), pl.col("unparsed").mean(), pl.col(others).last(), answers=pl.len()
    )
    return whole.join(links, on=CHAIN, maintain_order="left").filter(pl.col("answers") == pl.col("links"))
