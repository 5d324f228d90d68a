"""Abilities of the candidates of a run and difficulties of its choice questions, from marks."""

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
    right = (pl.col("outcome") == "right").sum().cast(pl.Float64)
    by_question = scored.group_by(*QUESTION, "candidate").agg(right=right, answers=pl.len().cast(pl.Float64))
    counts = by_question.collect(engine="streaming")  # of ten million marks only the counts are in memory
    shares = counts.group_by("candidate").agg(share=pl.col("right").sum() / pl.col("answers").sum())
    known = set(shares.filter(pl.col("share").is_between(0, 1, closed="none"))["candidate"])
    present = set(shares["candidate"])
    names = [candidate.name for candidate in study.candidates if candidate.name in known]
    left_out = [candidate.name for candidate in study.candidates if candidate.name in present - known]
    counts = counts.filter(pl.col("candidate").is_in(names))
    clusters = counts["cluster"].n_unique()
    if len(names) < MIN_CANDIDATES or clusters < FEWEST:
        return None
    tables = [counts.pivot("candidate", index=QUESTION, values=value).sort(QUESTION) for value in ("right", "answers")]
    rights, answers = (table.select(names).fill_null(0.0).to_numpy() for table in tables)
    cluster = tables[0]["cluster"].rank("dense").cast(pl.Int64).to_numpy()
    fit = fit_item_response(rights, answers, cluster)
    items = (
        tables[0]
        .select("case", "question")
        .with_columns(
            right=rights.sum(axis=1) / answers.sum(axis=1),
            answers=answers.sum(axis=1).astype(np.int64),
            easiness=fit.easiness,
            easiness_error=fit.easiness_error,
            information=fit.information,
        )
    )
    return Abilities(names, left_out, fit, items.sort("easiness", *QUESTION[1:]).select(*ITEMS), clusters)
