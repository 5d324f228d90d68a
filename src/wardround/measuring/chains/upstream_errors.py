"""Upstream errors: whether a stage is wrong more often after a wrong one. An association, not an effect."""

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import OUTCOMES, EncodedMarks, Marks, encode_marks, is_empty
from wardround.measuring.engine.estimate import estimate_by_stage, in_stage_order
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

# stage is empty for all stages that have an earlier one; after_wrong: share wrong where an earlier stage was wrong
UPSTREAM = table_schema(
    *("candidate", "stage", "after_wrong", "after_right", "difference", "low", "high"),
    *("n", "n_after_wrong", "clusters", "method"),
)
SUMS = ("wrong_after_wrong", "after_wrong", "wrong_after_right", "after_right")


def upstream_errors(marks: Marks, study: Study) -> pl.DataFrame:
    """P(wrong | an earlier stage wrong) - P(wrong | all earlier stages right), by candidate and stage.

    Earlier stages are the questions in `given`, in the same trial, with the candidate's own answers carried
    (`carry = own`). Unparsed is wrong, and refused unless the study leaves it out; unscored and
    unanswered questions are left out.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=UPSTREAM)
    encoded = encode_marks(marks, study)
    links = _links(encoded)
    if links.is_empty():
        return pl.DataFrame(schema=UPSTREAM)
    stages = in_stage_order(links["stage"])
    rows = [
        row
        for number, name in enumerate(encoded.candidates)
        for row in _candidate_rows(name, _steps(encoded, number, links), stages, encoded.cluster_count, study.seed)
    ]
    return pl.DataFrame(rows, schema=UPSTREAM).with_columns(pl.col(pl.Float64).fill_nan(None))


def _links(encoded: EncodedMarks) -> pl.DataFrame:
    """One row per question and earlier question in its `given`."""
    parents = encoded.subjects.select("case", given="question", parent="subject")
    children = encoded.subjects.select("subject", "case", "stage", "given").explode("given").drop_nulls("given")
    return children.join(parents, on=("case", "given"), how="left").select("subject", "stage", "parent")


def _steps(encoded: EncodedMarks, candidate: int, links: pl.DataFrame) -> pl.DataFrame:
    """Each answer to a question with earlier ones: whether it is wrong, and whether one of those is."""
    answers = encoded.marks_of(candidate).filter(encoded.has_value("carry", "own"))
    answers = answers.select("candidate", "cluster", "condition", "subject", "trial", "outcome")
    earlier = answers.select("condition", "trial", parent="subject", before="outcome")
    right, unscored = OUTCOMES.index("right"), OUTCOMES.index("unscored")
    return (
        answers.filter(pl.col("outcome") != unscored)
        .join(links, on="subject")
        .join(earlier, on=("condition", "trial", "parent"), how="left")
        .group_by("candidate", "cluster", "condition", "subject", "trial", "stage", maintain_order=True)
        .agg(
            (pl.col("outcome").first() != right).alias("wrong"),
            (pl.col("before") != right).any().alias("after_wrong"),
            (pl.col("before").is_null() | (pl.col("before") == unscored)).any().alias("unknown"),
        )
        .filter(~pl.col("unknown"))
    )


def _candidate_rows(
    name: str, steps: pl.DataFrame, stages: list[str], clusters: int, seed: int
) -> list[dict[str, Any]]:
    """All stages together, then each of them."""
    if steps.is_empty():
        return []
    wrong, after = (steps[column].to_numpy() for column in ("wrong", "after_wrong"))
    flags = dict(zip(SUMS, (wrong & after, after, wrong & ~after, ~after), strict=True))
    columns = {name: values.astype(float) for name, values in flags.items()}
    rows = []
    for stage, estimate in estimate_by_stage(_UPSTREAM, steps, columns, stages, clusters, seed).items():
        inside = (steps["stage"] == stage).to_numpy() if stage else np.ones(len(steps), bool)
        totals = [values[inside].sum() for values in columns.values()]
        shares = {"after_wrong": float(ratio(*totals[:2])), "after_right": float(ratio(*totals[2:]))}
        figures = {"difference": estimate.value, "n_after_wrong": int(totals[1])} | shares
        rows.append({"candidate": name, "stage": stage, **estimate._asdict(), **figures})
    return rows


def _difference(
    wrong_after_wrong: Floats, after_wrong: Floats, wrong_after_right: Floats, after_right: Floats
) -> Floats:
    return ratio(wrong_after_wrong, after_wrong) - ratio(wrong_after_right, after_right)


_UPSTREAM = Measure(
    name="upstream", formula=_difference, sums=SUMS, kind=MeasureKind.COMPOSITE, n="items", bounds=(-1.0, 1.0)
)
