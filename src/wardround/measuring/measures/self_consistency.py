"""Self-consistency: the share of trial pairs with the same option."""

from typing import Any

import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import OUTCOMES, encode_marks, is_empty
from wardround.measuring.engine.estimate import estimate_by_stage, in_stage_order
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

# stage is empty for all questions; n counts questions
CONSISTENCY = table_schema("candidate", "stage", "share", "low", "high", "n", "clusters", "method")
_SHARE = Measure(name="share", formula=ratio, sums=("part", "items"), kind=MeasureKind.MEAN, n="items")


def self_consistency(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The share of pairs of trials with the same option, by candidate and stage, questions equally weighted.

    An unparsed or refused trial agrees with no other. In a chain later stages may differ because earlier ones did.
    """
    if is_empty(marks) or study.trials < 2:
        return pl.DataFrame(schema=CONSISTENCY)
    encoded = encode_marks(marks, study)
    stages = in_stage_order(encoded.subjects["stage"])
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(encoded.candidates):
        choices = encoded.marks_of(number).filter(
            ~pl.col("open"), ~pl.col("rubric"), pl.col("outcome") != OUTCOMES.index("unscored")
        )
        trials = choices.group_by("cluster", "condition", "subject").agg(trials=pl.len()).filter(pl.col("trials") > 1)
        same = (
            choices.drop_nulls("option")
            .group_by("condition", "subject", "option")
            .agg(votes=pl.len())
            .group_by("condition", "subject")
            .agg(agreeing=(pl.col("votes") * (pl.col("votes") - 1)).sum())
        )
        pairs = pl.col("trials") * (pl.col("trials") - 1)
        asked = (
            trials.join(same, on=("condition", "subject"), how="left")
            .join(encoded.subjects.select("subject", "stage"), on="subject")
            .sort("condition", "subject")
            .with_columns(share=pl.col("agreeing").fill_null(0) / pairs)
        )
        columns = {"part": asked["share"].to_numpy()}
        estimates = estimate_by_stage(_SHARE, asked, columns, stages, encoded.cluster_count, study.seed)
        for stage, estimate in estimates.items():
            rows.append({"candidate": name, "stage": stage, "share": estimate.value, **estimate._asdict()})
    return pl.DataFrame(rows, schema=CONSISTENCY)
