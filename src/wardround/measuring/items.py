"""Items: what each question adds to the sums of which measures are made.

An item is one question under one condition, answered by one candidate in all its trials. `items` gives it a
column for each thing that a measure adds up (SUMS) and for each group of items that a measure is about (GROUPS).
All are multiples of 2**-30, so that adding them up is exact.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from wardround.measuring.coded import ITEM
from wardround.measuring.exact import Floats, exact, exact_expr
from wardround.measuring.expected import Expected, enough, expected_votes, limiting_votes, top_right

HITS = (1, 3)
GROUPS = ("asked", "judged", "choice", "open", "elected", "voted", "shared", "verbal")
SUMS = (
    *("marks", "unscored"),
    *("answers", "scored", "right", "unparsed", "parsed", "parsed_answers"),
    *(f"hit@{k}{of}" for k in HITS for of in ("", "_of")),
    *("majority", "majority_inf", "agreement", "agreement_of", "agreement_inf"),
    *("certain", "certainty", "shift", "missing", "counted"),
    *("certain_inf", "certainty_inf", "shift_inf", "missing_inf"),
    *("stated", "stated_of", "stated_shift", "unstated", "statable"),
)
OF_CHOICES = ("answers", "scored", "right", "parsed", "parsed_answers")
FINE = 2.0**40  # n log n is added up in whole units of 2**-40


def items(marks: pl.DataFrame, trials: int) -> pl.DataFrame:
    """One row per item, sorted: ITEM, `whole` (all trials are there), GROUPS, SUMS, and those of choices alone."""
    drawn = marks.filter(pl.col("shares").is_null())
    spread = marks.filter(pl.col("shares").is_not_null())
    every = pl.concat([_completed(_counted(drawn, trials)), _completed(_expected(spread, trials))]).sort(ITEM)
    return every.with_columns((pl.col(name) * pl.col("choice")).alias(f"{name}_choice") for name in OF_CHOICES)


def _completed(part: pl.DataFrame) -> pl.DataFrame:
    """All columns, as floats; what a kind of item cannot add is zero."""
    absent = [pl.lit(0.0).alias(name) for name in (*GROUPS, *SUMS) if name not in part.columns]
    figures = pl.col(*GROUPS, *SUMS).cast(pl.Float64).fill_null(0.0)
    return part.with_columns(absent).select(*ITEM, "whole", figures)


def _counted(marks: pl.DataFrame, trials: int) -> pl.DataFrame:
    """Items whose answers were drawn: T marks each."""
    scored = pl.col("outcome") != "unscored"
    right = pl.col("outcome") == "right"
    stated = pl.col("confidence").is_not_null() & scored & pl.col("verbal")
    tallied = (
        marks.group_by(ITEM)
        .agg(
            pl.len().alias("marks"),
            scored.sum().alias("answers"),
            right.sum().alias("right"),
            (pl.col("outcome") == "unparsed").sum().alias("unparsed"),
            pl.col("open").any(),
            pl.col("verbal").any().alias("told"),
            pl.col("k").max(),
            *(expr for k in HITS for expr in _hits(k)),
            exact_expr(pl.col("confidence")).filter(stated).sum().alias("stated"),
            stated.sum().alias("stated_of"),
            (right & stated).sum().alias("stated_right"),
        )
        .join(_ballots(marks), on=ITEM, how="left", maintain_order="left")
        .with_columns(pl.col("valid", "top", "ties", "nlogn").fill_null(0), pl.col("gold_on_top").fill_null(False))
    )
    voted = ~pl.col("open") & ~pl.col("told") & pl.col("k").is_not_null() & (trials > 1)
    elected = ~pl.col("open") & (trials > 1)
    settled = elected & (pl.col("valid") >= enough(trials))
    certain = voted & settled
    votes = pl.col("valid").cast(pl.Float64)
    entropy = votes.log() - pl.col("nlogn") / FINE / votes
    certainty = exact_expr((1.0 - entropy / pl.col("k").cast(pl.Float64).log()).clip(0.0, 1.0))
    accuracy = exact_expr(pl.col("right") / pl.col("answers"))
    return tallied.with_columns(
        whole=pl.col("marks") == trials,
        asked=pl.lit(1.0),
        choice=~pl.col("open"),
        judged=pl.col("open") | (pl.col("answers") < pl.col("marks")),
        elected=elected,
        voted=voted,
        verbal=pl.col("told"),
        unscored=pl.col("marks") - pl.col("answers"),
        scored=pl.col("answers"),
        parsed=pl.col("answers") - pl.col("unparsed"),
        parsed_answers=pl.col("answers") - pl.col("unparsed"),
        majority=pl.when(elected & pl.col("gold_on_top")).then(exact_expr(1.0 / pl.col("ties"))).otherwise(0.0),
        agreement=pl.when(settled).then(exact_expr(pl.col("top") / pl.col("answers"))).otherwise(0.0),
        agreement_of=settled,
        certain=certain,
        counted=certain,
        certainty=pl.when(certain).then(certainty).otherwise(0.0),
        shift=pl.when(certain).then(certainty - accuracy).otherwise(0.0),
        missing=voted & ~certain,
        stated_shift=pl.col("stated") - pl.col("stated_right"),
        statable=pl.when("told").then("answers").otherwise(0),
        unstated=pl.when("told").then(pl.col("answers") - pl.col("stated_of")).otherwise(0),
    )


def _hits(k: int) -> list[pl.Expr]:
    """hit@k: any of the first k judged the same is 1; else any of them unscored is unscored; else 0."""
    first = pl.col("hits").list.head(k)
    same = first.list.any().fill_null(False)
    in_doubt = (
        pl.when(pl.col("hits").is_null())
        .then(pl.col("outcome") == "unscored")
        .otherwise(first.list.drop_nulls().list.len() < first.list.len())
    )
    hit = pl.col("open") & same
    return [hit.sum().alias(f"hit@{k}"), (hit | (pl.col("open") & ~in_doubt)).sum().alias(f"hit@{k}_of")]


def _ballots(marks: pl.DataFrame) -> pl.DataFrame:
    """The votes of each choice: how many are valid, and who has the most."""
    count = pl.col("count")
    on_top = count == count.max()
    return (
        marks.filter(pl.col("option").is_not_null() & ~pl.col("open"))
        .group_by(*ITEM, "option")
        .agg(pl.len().alias("count"), pl.col("gold").max())
        .group_by(ITEM)
        .agg(
            count.sum().alias("valid"),
            count.max().alias("top"),
            on_top.sum().alias("ties"),
            (on_top & (pl.col("option") == pl.col("gold"))).any().alias("gold_on_top"),
            (count * count.cast(pl.Float64).log() * FINE).round().cast(pl.Int64).sum().alias("nlogn"),
        )
    )


def _expected(marks: pl.DataFrame, trials: int) -> pl.DataFrame:
    """Items whose option probabilities are known: one mark each, which stands for T expected votes."""
    shares = _matrix(marks["shares"])
    gold = shares[np.arange(len(shares)), marks["gold"].fill_null(0).to_numpy()] if len(marks) else np.zeros(0)
    options = marks["k"].cast(pl.Float64).to_numpy()
    valid = np.minimum(shares.sum(axis=1), 1.0)
    top = shares.max(axis=1, initial=0.0)
    limit = limiting_votes(shares, gold, options)
    votes = expected_votes(shares, gold, options, trials) if trials > 1 else None
    figures = {
        "scored": np.full(len(marks), float(trials)),
        "right": trials * gold,
        "unparsed": trials * (1.0 - valid),
        "parsed": trials * valid,
        "parsed_answers": (valid > 0).astype(np.float64),
        "majority_inf": top_right(shares, gold),
        "agreement_inf": limit.certain * top,
        **_confidence(limit, "_inf"),
    }
    if votes is not None:
        figures |= _confidence(votes, "") | {"counted": (votes.certain > 0).astype(np.float64)}
    ones = {name: pl.lit(1.0) for name in ("marks", "answers", "asked", "choice", "shared")}
    return marks.select(ITEM).with_columns(
        *(pl.Series(name, exact(values)) for name, values in figures.items()),
        whole=pl.lit(True),
        voted=pl.lit(float(trials > 1)),
        **ones,
    )


def _confidence(expected: Expected, version: str) -> dict[str, Floats]:
    certain = exact(expected.certain)
    certainty = np.clip(exact(expected.certainty), 0.0, certain)
    return {
        f"certain{version}": certain,
        f"certainty{version}": certainty,
        f"shift{version}": certainty - exact(expected.right),
        f"missing{version}": 1.0 - certain,
    }


def _matrix(shares: pl.Series) -> Floats:
    """The lists as rows, padded with zeros, in multiples of 2**-30."""
    lengths = shares.list.len().to_numpy()
    matrix = np.zeros((len(shares), int(lengths.max()) if len(shares) else 1))
    inside = np.arange(matrix.shape[1]) < lengths[:, None]
    matrix[inside] = shares.explode().drop_nulls().to_numpy() if len(shares) else 0.0
    return exact(matrix)
