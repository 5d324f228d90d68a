"""The table of questions: marks of all runs as compact columns, which the browser filters and sorts.

A row is a question of a case. A series is one candidate of one run under one condition. A cell is a row in a series:
how often it was right, wrong, unparsed, refused and unscored over the trials.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import OUTCOMES
from wardround.marking.marks import MARKS_SCHEMA
from wardround.view.run_list import ShownRun

FACETS = (
    *("modality", "specialty", "stage", "kind", "tag", "skill", "capability", "task", "grade"),
    *("split", "sex", "age_band"),
)
ROW_COLUMNS = ("case", "question", "cluster", "gold", "k", "of", "chain", "given", *FACETS)
NONE = 255  # in columns of bytes: no option, confidence, rule or degradation
CONFIDENCE_STEPS = 200  # a confidence of 1 in a column of bytes
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Series:
    """One candidate of one run under one condition."""

    run: int
    candidate: str
    condition: int


@dataclass(frozen=True)
class QuestionTable:
    """All rows, series and cells. `counts` holds one array (series x rows) for each outcome."""

    runs: tuple[ShownRun, ...]
    rows: pl.DataFrame  # row, case, question, cluster, gold, k, of, chain, given, and the facets
    columns: tuple[tuple[int, str], ...]  # run and candidate
    conditions: tuple[str, ...]
    series: tuple[Series, ...]
    counts: tuple[Bytes, ...]
    options: Bytes
    confidences: Bytes
    rules: Bytes
    rule_names: tuple[str, ...]
    strata: Bytes  # conditions x rows
    stratum_names: tuple[tuple[str, str], ...]  # type and severity of a degradation

    def __len__(self) -> int:
        return len(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What the browser gets."""
        axes = [{**DEFAULTS, **json.loads(condition)} for condition in self.conditions]
        return {
            "runs": [run.name for run in self.runs],
            "columns": [{"run": run, "name": name} for run, name in self.columns],
            "conditions": [
                {
                    "axes": {axis: value for axis, value in values.items() if value != DEFAULTS.get(axis)},
                    "clean": _without_axis(axes, values, "degradation"),
                    "alone": _without_axis(axes, values, "evidence"),
                }
                for values in axes
            ],
            "defaults": DEFAULTS,
            "countsRefused": [run.counts_refused for run in self.runs],
            "varied": [axis for axis in DEFAULTS if len({values[axis] for values in axes}) > 1],
            "series": [[self.columns.index((s.run, s.candidate)), s.condition] for s in self.series],
            "rows": len(self.rows),
            "cases": self.rows["case"].to_list(),
            "questions": _coded(self.rows["question"]),
            "cluster": _packed(self.rows["cluster"].rank("dense").to_numpy().astype("<u4") - 1),
            "clusters": self.rows["cluster"].n_unique(),
            "gold": _packed(self.rows["gold"].fill_null(NONE).to_numpy().astype(np.uint8)),
            "of": _packed(self._of_rows()),
            "chains": self._chains(),
            "facets": {key: _coded(self.rows[key]) for key in FACETS if self.rows[key].n_unique() > 1},
            "rules": list(self.rule_names),
            "strata": [list(names) for names in self.stratum_names],
            "stratum": _packed(self.strata),
            "cells": {name: _packed(counts) for name, counts in zip(OUTCOMES, self.counts, strict=True)}
            | {"option": _packed(self.options), "confidence": _packed(self.confidences), "rule": _packed(self.rules)},
        }

    def _of_rows(self) -> NDArray[np.int32]:
        """For each row that of the question named in `of`; -1 without one."""
        own = self.rows.select("case", question="of")
        known = self.rows.select("case", "question", "row")
        matched = own.join(known, on=("case", "question"), how="left", maintain_order="left")
        return matched["row"].cast(pl.Int32).fill_null(-1).to_numpy().astype("<i4")

    def _chains(self) -> list[list[int]]:
        """The rows of each chain, in the order of `given`."""
        chained = self.rows.filter(pl.col("chain").is_not_null())
        return [_in_order(group) for group in chained.partition_by("case", "chain", maintain_order=True)]


def read_table(runs: Sequence[ShownRun]) -> QuestionTable:
    """Reads the marks of all runs that have some."""
    parts = [_read_marks(number, run) for number, run in enumerate(runs) if run.marks.is_file()]
    cells = pl.concat([part[0] for part in parts]) if parts else _no_cells()
    rows = pl.concat([part[1] for part in parts]) if parts else pl.DataFrame(schema=_row_schema())
    rows = rows.unique(["case", "question"], keep="first", maintain_order=True).with_row_index("row")
    cells = cells.join(rows.select("row", "case", "question"), on=("case", "question"), how="left")
    columns = _ordered_columns(cells, runs)
    conditions = tuple(dict.fromkeys(condition for part in parts for condition in part[2]))
    distinct = cells.select("run", "candidate", "condition").unique()
    series = sorted(
        (Series(run, name, conditions.index(condition)) for run, name, condition in distinct.iter_rows()),
        key=lambda s: (columns.index((s.run, s.candidate)), s.condition),
    )
    place = pl.DataFrame(
        [(s.run, s.candidate, conditions[s.condition], number) for number, s in enumerate(series)],
        schema={"run": pl.Int32, "candidate": pl.String, "condition": pl.String, "series": pl.Int64},
        orient="row",
    )
    cells = cells.join(place, on=("run", "candidate", "condition"), how="left").drop("candidate", "case", "question")
    where = (cells["series"].to_numpy() * len(rows) + cells["row"].to_numpy()).astype(np.int64)
    size = len(series) * len(rows)

    def dense(values: pl.Series, empty: int) -> Bytes:
        column = np.full(size, empty, np.uint8)
        column[where] = values.fill_null(empty).to_numpy()
        return column.reshape(len(series), len(rows))

    rules, rule_names = _codes(cells["rule"])
    stratum, names = _codes(pl.Series(values=cells["stratum"]))
    strata = np.full((len(conditions), len(rows)), NONE, np.uint8)
    numbers = {condition: number for number, condition in enumerate(conditions)}
    condition_numbers = np.array([numbers[name] for name in cells["condition"]], dtype=np.int64)
    strata[condition_numbers, cells["row"].to_numpy()] = stratum.to_numpy()
    return QuestionTable(
        runs=tuple(runs),
        rows=rows,
        columns=columns,
        conditions=conditions,
        series=tuple(series),
        counts=tuple(dense(cells[name], 0) for name in OUTCOMES),
        options=dense(cells["option"], NONE),
        confidences=dense(cells["confidence"], NONE),
        rules=dense(rules, NONE),
        rule_names=rule_names,
        strata=strata,
        stratum_names=tuple((type, severity) for type, _, severity in (name.partition("\t") for name in names)),
    )


def _read_marks(number: int, run: ShownRun) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The cells of a run, and its rows and conditions in the order of the marks."""
    scanned = pl.scan_parquet(run.marks)
    known = scanned.collect_schema().names()
    missing = [pl.lit(None, MARKS_SCHEMA[name]).alias(name) for name in MARKS_SCHEMA if name not in known]
    marks = scanned.with_columns(missing).filter(pl.col("outcome").is_not_null())
    rows = marks.select(ROW_COLUMNS).unique(["case", "question"], keep="first", maintain_order=True).collect()
    key = ("candidate", "case", "question", "condition")
    unparsed_rule = pl.col("rule").filter(pl.col("outcome") == "unparsed").first()
    cells = (
        marks.group_by(key)
        .agg(
            *((pl.col("outcome") == name).sum().clip(0, 254).cast(pl.UInt8).alias(name) for name in OUTCOMES),
            pl.col("option").drop_nulls().mode().first().cast(pl.UInt8),
            (pl.col("confidence").mean() * CONFIDENCE_STEPS).clip(0, CONFIDENCE_STEPS).round().cast(pl.UInt8),
            pl.coalesce(unparsed_rule, pl.col("rule").first()).alias("rule"),
            (pl.col("type").first().fill_null("") + "\t" + pl.col("severity").first()).alias("stratum"),
        )
        .with_columns(pl.lit(number, pl.Int32).alias("run"))
        .collect()
    )
    conditions = marks.select(pl.col("condition").unique(maintain_order=True)).collect()["condition"].to_list()
    return cells, rows, conditions


def _no_cells() -> pl.DataFrame:
    texts = dict.fromkeys(("candidate", "case", "question", "condition", "rule", "stratum"), pl.String)
    numbers = dict.fromkeys((*OUTCOMES, "option", "confidence"), pl.UInt8)
    return pl.DataFrame(schema={**texts, **numbers, "run": pl.Int32})


def _row_schema() -> dict[str, Any]:
    return {name: MARKS_SCHEMA[name] for name in ROW_COLUMNS}


def _ordered_columns(cells: pl.DataFrame, runs: Sequence[ShownRun]) -> tuple[tuple[int, str], ...]:
    """Run and candidate of each column, in the order of the studies."""

    def order(column: tuple[int, str]) -> tuple[int, int, str]:
        known = runs[column[0]].candidate_order
        return column[0], known.index(column[1]) if column[1] in known else len(known), column[1]

    return tuple(sorted(cells.select("run", "candidate").unique().iter_rows(), key=order))


def _without_axis(all_axes: list[dict[str, str]], values: dict[str, str], axis: str) -> int:
    """The condition with `none` on this axis and the same others; -1 if there is none, or it is itself."""
    if values[axis] == "none":
        return -1
    wanted = canonical_json({**values, axis: "none"})
    return next((place for place, other in enumerate(all_axes) if canonical_json(other) == wanted), -1)


def _codes(values: pl.Series) -> tuple[pl.Series, tuple[str, ...]]:
    """Texts as numbers, and the texts; of more than 255 the rarest are not named."""
    names = values.drop_nulls().value_counts(sort=True).head(NONE)[values.name].sort().to_list()
    codes = values.replace_strict({name: number for number, name in enumerate(names)}, default=NONE)
    return codes.cast(pl.UInt8).fill_null(NONE), tuple(names)


def _coded(column: pl.Series) -> dict[str, Any]:
    """A facet: its values, the combinations that occur, and the number of each row's combination."""
    if column.dtype == pl.List:
        texts = column.list.sort().list.join("\t").fill_null("")
    else:
        texts = column.cast(pl.String).fill_null("")
    combinations = texts.unique().sort().to_list()
    members = [[part for part in text.split("\t") if part] for text in combinations]
    values = sorted({value for parts in members for value in parts})
    codes = texts.replace_strict({text: number for number, text in enumerate(combinations)}, return_dtype=pl.UInt32)
    return {
        "values": values,
        "combinations": [[values.index(value) for value in parts] for parts in members],
        "codes": _packed(codes.to_numpy().astype("<u4")),
    }


def _in_order(chain: pl.DataFrame) -> list[int]:
    """The rows of a chain, each after those that it is given."""
    earlier_by_id = {row["question"]: set(row["given"] or ()) for row in chain.select("question", "given").to_dicts()}
    numbers = dict(chain.select("question", "row").iter_rows())
    ordered: list[int] = []
    while earlier_by_id:
        ready = [id for id, earlier in earlier_by_id.items() if not earlier & earlier_by_id.keys()] or list(
            earlier_by_id
        )
        ordered += [numbers[id] for id in ready]
        earlier_by_id = {id: earlier for id, earlier in earlier_by_id.items() if id not in ready}
    return ordered


def _packed(values: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode()
