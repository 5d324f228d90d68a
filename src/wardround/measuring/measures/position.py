"""Letter-position bias: letters that are chosen more often than they are right."""

from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.core.text import LETTERS
from wardround.measuring.engine.encode import encode_marks, is_empty
from wardround.measuring.engine.estimate import estimate_by_group
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.formulas import ratio

POSITION = table_schema(
    *("candidate", "letter", "chosen", "right", "difference", "low", "high", "n", "method"),
)
_DIFFERENCE = Measure(name="difference", formula=ratio, sums=("part", "items"), kind=MeasureKind.SIGNED, n="items")


def letter_bias(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """Per candidate and letter as shown: how often it was chosen, how often it was right, and the difference.

    Over parsed choices. Without the columns `place` and `gold_place` only answers to unshuffled options count.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=POSITION)
    encoded = encode_marks(marks, study)
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(encoded.candidates):
        choices = encoded.marks_of(number)
        if "gold" not in choices.columns:  # no choices at all
            continue
        if "place" in choices.columns and "gold_place" in choices.columns:
            choices = choices.with_columns(shown="place", right="gold_place")
        else:
            choices = choices.filter(encoded.has_value("options", "as-given")).with_columns(
                shown="option", right="gold"
            )
        choices = choices.filter(pl.col("shown").is_not_null() & pl.col("right").is_not_null() & ~pl.col("open"))
        rows += _candidate_rows(name, choices, encoded.cluster_count, study.seed)
    return pl.DataFrame(rows, schema=POSITION)


def _candidate_rows(name: str, choices: pl.DataFrame, clusters: int, seed: int) -> list[dict[str, Any]]:
    shown, right = (choices[column].cast(pl.Int64).to_numpy() for column in ("shown", "right"))
    letters = int(max(shown.max(initial=-1), right.max(initial=-1))) + 1
    if not letters:
        return []
    rows = []
    for letter in range(letters):
        chosen, is_right = shown == letter, right == letter
        columns, group = {"part": chosen.astype(float) - is_right}, np.zeros(len(choices), np.int64)
        estimate = estimate_by_group(_DIFFERENCE, choices["cluster"], group, columns, clusters, seed)[0]
        shares = {"chosen": float(chosen.mean()), "right": float(is_right.mean()), "difference": estimate.value}
        rows.append({"candidate": name, "letter": LETTERS[letter], **shares, **estimate._asdict()})
    return rows
