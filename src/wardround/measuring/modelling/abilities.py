"""Abilities of the candidates of a run and difficulties of its choice questions, from marks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.modelling.item_response import ItemResponseFit, fit_item_response

MIN_CANDIDATES = 3
QUESTION = ("cluster", "case", "question")
ITEMS = table_schema(
    *("case", "question", "right", "answers", "easiness", "easiness_error", "information"),
    case=pl.String,
    question=pl.String,
    answers=pl.Int64,
)


@dataclass(frozen=True)
class Abilities:
    """The fit with the names of its candidates; those that were always or never right have no ability."""

    candidates: list[str]
    left_out: list[str]
    fit: ItemResponseFit
    items: pl.DataFrame  # ITEMS, the hardest first
    clusters: int


def fit_abilities(marks: pl.LazyFrame, study: Study) -> Abilities | None:
    """The model of the choice questions in these marks, which are of one condition; None if there are too few."""
    is_choice = pl.col("kind").fill_null("choice") == "choice" if "kind" in marks.collect_schema() else pl.lit(True)
    scored = marks.filter(is_choice, pl.col("outcome").cast(pl.String).is_in(study.scored_outcomes))
    is_right = pl.col("outcome") == "right"
    shares = scored.group_by("candidate").agg(share=is_right.mean()).collect(engine="streaming")
    known = set(shares.filter(pl.col("share").is_between(0, 1, closed="none"))["candidate"])
    present = set(shares["candidate"])
    names = [candidate.name for candidate in study.candidates if candidate.name in known]
    left_out = [candidate.name for candidate in study.candidates if candidate.name in present - known]
    if len(names) < MIN_CANDIDATES:
        return None
    counts = _counts_by_question(scored, names, is_right)
    clusters = counts["cluster"].n_unique()
    if clusters < FEWEST:
        return None
    rights, answers = np.hsplit(counts.drop(QUESTION).to_numpy(), 2)
    cluster = counts["cluster"].rank("dense").cast(pl.Int64).to_numpy()
    fit = fit_item_response(rights, answers, cluster)
    items = counts.select("case", "question").with_columns(
        right=rights.sum(axis=1) / answers.sum(axis=1),
        answers=answers.sum(axis=1).astype(np.int64),
        easiness=fit.easiness,
        easiness_error=fit.easiness_error,
        information=fit.information,
    )
    return Abilities(names, left_out, fit, items.sort("easiness", *QUESTION[1:]).select(*ITEMS), clusters)


def _counts_by_question(scored: pl.LazyFrame, names: Sequence[str], is_right: pl.Expr) -> pl.DataFrame:
    """For each question the right answers of each candidate, then the answers of each.

    Of ten million marks only these counts are in memory.
    """
    flags = [pl.col("candidate") == name for name in names]
    counted = [flag & is_right for flag in flags] + flags
    sums = [flag.sum().cast(pl.Float64).alias(str(place)) for place, flag in enumerate(counted)]
    of_names = scored.filter(pl.col("candidate").is_in(names))
    return of_names.group_by(*QUESTION).agg(*sums).collect(engine="streaming").sort(QUESTION)
