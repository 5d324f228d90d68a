"""Open answers of a run, a row for each candidate, case, condition and trial, with what their documents were worth."""

from __future__ import annotations

import polars as pl

from wardround.reporting.run_files import RunFolder

SCORED = ("right", "wrong", "unparsed")
ASKED = ("candidate", "case", "question")  # what two conditions are paired on
IMAGES, FINDINGS = "history+images", "history+findings"


def open_answers(run: RunFolder) -> pl.DataFrame:
    """Right is a right first diagnosis, 1 or 0; what cannot be read is not right, what is unscored is left out."""
    conditions = pl.DataFrame(
        [(name, told["inputs"], told["evidence"]) for name, told in run.conditions.items()],
        schema={"condition": pl.String, "inputs": pl.String, "evidence": pl.String},
        orient="row",
    )
    return (
        run.marks.filter(pl.col("kind") == "open", pl.col("outcome").is_in(SCORED))
        .select(
            *(*ASKED, "cluster", "condition", "trial", "grounded", "covered"),
            right=(pl.col("outcome") == "right").cast(pl.Float64),
        )
        .collect()
        .join(conditions, on="condition")
        .sort(*ASKED, "inputs", "evidence", "trial")
    )


def by_case(answers: pl.DataFrame, inputs: str, evidence: str) -> pl.DataFrame:
    """Under one condition, a row for each candidate and case: over trials the mean of right."""
    return (
        answers.filter(pl.col("inputs") == inputs, pl.col("evidence") == evidence)
        .group_by(*ASKED, "cluster", maintain_order=True)
        .agg(pl.col("right").mean(), pl.col("grounded").cast(pl.Float64).mean(), pl.col("covered").first())
    )


def both(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """The cases that were answered under both conditions; what the second has is named with `_b`."""
    return a.join(b.drop("cluster"), on=ASKED, suffix="_b", maintain_order="left")
