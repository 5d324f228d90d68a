"""The open answers of a run: a row for each candidate, case, condition and trial, with grounding and coverage."""

import polars as pl

from wardround.reporting.run_files import RunFiles

ASKED = ("candidate", "case", "question")  # what two conditions are paired on
IMAGES, FINDINGS = "history+images", "history+findings"


def open_answers(run: RunFiles) -> pl.DataFrame:
    """`right` is 1 if the first diagnosis is right, else 0: unparsed and refused are 0, unscored left out."""
    conditions = pl.DataFrame(
        [(name, axes["inputs"], axes["evidence"]) for name, axes in run.conditions.items()],
        schema={"condition": pl.String, "inputs": pl.String, "evidence": pl.String},
        orient="row",
    )
    return (
        run.marks.filter(pl.col("kind") == "open", pl.col("outcome").is_in(run.study.scored_outcomes))
        .select(
            *(*ASKED, "cluster", "condition", "trial", "grounded", "covered"),
            right=(pl.col("outcome") == "right").cast(pl.Float64),
        )
        .collect()
        .join(conditions, on="condition")
        .sort(*ASKED, "inputs", "evidence", "trial")
    )


def answers_by_case(answers: pl.DataFrame, inputs: str, evidence: str) -> pl.DataFrame:
    """The answers under one condition, averaged over trials: a row for each candidate and case."""
    return (
        answers.filter(pl.col("inputs") == inputs, pl.col("evidence") == evidence)
        .group_by(*ASKED, "cluster", maintain_order=True)
        .agg(pl.col("right").mean(), pl.col("grounded").cast(pl.Float64).mean(), pl.col("covered").first())
    )


def paired_answers(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """The cases answered under both conditions; columns of the second end in `_b`."""
    return first.join(second.drop("cluster"), on=ASKED, suffix="_b", maintain_order="left")
