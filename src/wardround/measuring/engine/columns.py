"""Columns of marks that some measures need. A column that is absent or empty means: the measure does not apply."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl


class Column(NamedTuple):
    """One optional column of marks."""

    name: str
    dtype: Any
    meaning: str


OPTIONAL = (
    Column("gold", pl.Int16(), "index of the right option"),
    Column("k", pl.Int16(), "number of options"),
    Column("shares", pl.List(pl.Float64), "probability of each option, where log-probabilities give it"),
    Column("judge", pl.String(), "who judged an open answer"),
    Column("parser", pl.String(), "who read the answer"),
    Column("grounded", pl.Boolean(), "the first diagnosis is supported by the documents that were supplied"),
    Column("covered", pl.Boolean(), "the documents that were supplied contain the true diagnosis"),
    Column("relevant", pl.Int32(), "how many relevant documents there are"),
    Column("relevant_ranks", pl.List(pl.Int32), "ranks, from 1, at which relevant documents were retrieved"),
    Column("labels", pl.List(pl.Boolean), "a reader's verdict on each diagnosis that `hits` judges"),
    Column("logprob", pl.Float64(), "sum of the reference text's log-probabilities (natural)"),
    Column("tokens", pl.Int32(), "tokens of the reference text"),
    Column("bytes", pl.Int32(), "UTF-8 bytes of the reference text"),
    Column("rouge_l", pl.Float64(), "ROUGE-L F1 of the generated rationale against the reference"),
    Column("eds", pl.Float64(), "1 - Levenshtein / longer length, of the same two texts"),
    Column("place", pl.Int16(), "place of the chosen option as shown; without it only unshuffled answers tell"),
    Column("gold_place", pl.Int16(), "place of the right option as shown"),
)
