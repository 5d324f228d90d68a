"""First diagnoses of open answers against the right ones, as columns that the browser counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from wardround.marking.judges.judge import read_verdicts
from wardround.view.run_list import ShownRun
from wardround.view.table import NONE, QuestionTable, packed

CELL = ["candidate", "case", "question", "condition"]


def diagnoses_document(table: QuestionTable) -> dict[str, Any]:
    """One entry for each row and series with a judged open answer: the right and the first diagnosis, and the verdict.

    Of several trials the most frequent first diagnosis counts; of equally frequent ones that of the earliest trial.
    """
    entries = pl.concat([_entries(table, number, run) for number, run in enumerate(table.runs)] or [_no_entries()])
    names = pl.concat([entries["gold"], entries["diagnosis"]]).unique().sort()
    code = {name: number for number, name in enumerate(names)}

    def coded(column: str) -> str:
        return packed(entries[column].replace_strict(code, return_dtype=pl.UInt32).to_numpy().astype("<u4"))

    return {
        "names": names.to_list(),
        "series": packed(entries["series"].to_numpy().astype("<u4")),
        "row": packed(entries["row"].to_numpy().astype("<u4")),
        "gold": coded("gold"),
        "diagnosis": coded("diagnosis"),
        "same": packed(entries["same"].cast(pl.UInt8).fill_null(NONE).to_numpy().astype(np.uint8)),
    }


def _no_entries() -> pl.DataFrame:
    texts = {"gold": pl.String, "diagnosis": pl.String}
    return pl.DataFrame(schema={"series": pl.UInt32, "row": pl.UInt32, **texts, "same": pl.Boolean})


def _entries(table: QuestionTable, number: int, run: ShownRun) -> pl.DataFrame:
    series = pl.DataFrame(
        [
            (place, one.candidate, table.conditions[one.condition])
            for place, one in enumerate(table.series)
            if one.run == number
        ],
        schema={"series": pl.UInt32, "candidate": pl.String, "condition": pl.String},
        orient="row",
    )
    verdicts = read_verdicts(run.folder)
    if verdicts.is_empty():
        return _no_entries()
    latest = verdicts["judge"][-1]  # verdicts of the latest judge are written last
    first = verdicts.filter((pl.col("judge") == latest) & (pl.col("rank") == 1))
    return (
        first.group_by(*CELL, "diagnosis")
        .agg(pl.len().alias("count"), pl.col("trial").min(), pl.col("gold", "same").first())
        .sort("count", "trial", descending=[True, False])
        .unique(CELL, keep="first", maintain_order=True)
        .join(series, on=("candidate", "condition"))
        .join(table.rows.select("row", "case", "question"), on=("case", "question"))
        .sort("series", "row")
        .select("series", "row", "gold", "diagnosis", "same")
    )
