"""The table of questions: marks of all runs as compact columns, which the browser filters and sorts.

A row is a question of a case. A series is one candidate of one run under one condition. A cell is a row in a series:
how often it was right, wrong, unparsed, refused and unscored over the trials.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
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
STRATUM = pl.col("type").fill_null("") + "\t" + pl.col("severity")  # null without degradations in the study
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
            "cluster": packed(self.rows["cluster"].rank("dense").to_numpy().astype("<u4") - 1),
            "clusters": self.rows["cluster"].n_unique(),
            "gold": packed(self.rows["gold"].fill_null(NONE).to_numpy().astype(np.uint8)),
            "of": packed(self._of_rows()),
            "chains": self._chains(),
            "facets": {key: _coded(self.rows[key]) for key in FACETS if self.rows[key].n_unique() > 1},
            "rules": list(self.rule_names),
            "strata": [list(names) for names in self.stratum_names],
            "stratum": packed(self.strata),
            "cells": {name: packed(counts) for name, counts in zip(OUTCOMES, self.counts, strict=True)}
            | {"option": packed(self.options), "confidence": packed(self.confidences), "rule": packed(self.rules)},
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
    """Reads the marks of all runs that have some, one candidate at a time, which takes little memory."""
    scans = {number: _scan(run) for number, run in enumerate(runs) if run.marks.is_file()}
    rows = _distinct_rows(scans.values())
    conditions = _distinct_values(scans.values(), pl.col("condition"))
    rules = _distinct_values(scans.values(), pl.col("rule"))[:NONE]
    strata = _distinct_values(scans.values(), STRATUM)[:NONE]
    columns = [(number, name) for number, scan in scans.items() for name in _candidates(scan, runs[number])]
    asked = {(number, *place) for number, scan in scans.items() for place in _asked(scan)}
    series = [
        Series(run, name, place)
        for run, name in columns
        for place, condition in enumerate(conditions)
        if (run, name, condition) in asked
    ]
    shape = len(series), len(rows)
    counts = {name: np.zeros(shape, np.uint8) for name in OUTCOMES}
    others = {name: np.full(shape, NONE, np.uint8) for name in ("option", "confidence", "rule")}
    stratum_codes = np.full((len(conditions), len(rows)), NONE, np.uint8)
    places = rows.select("row", "case", "question")
    for run, name in columns:
        cells = _cells(scans[run].filter(pl.col("candidate") == name), places, conditions, rules, strata)
        row, condition = cells["row"].to_numpy(), cells["condition"].to_numpy()
        numbers = {s.condition: place for place, s in enumerate(series) if (s.run, s.candidate) == (run, name)}
        place = np.array([numbers.get(number, -1) for number in range(len(conditions))])[condition]
        for column, values in (counts | others).items():
            values[place, row] = cells[column].to_numpy()
        stratum_codes[condition, row] = cells["stratum"].to_numpy()
    return QuestionTable(
        runs=tuple(runs),
        rows=rows,
        columns=tuple(columns),
        conditions=tuple(conditions),
        series=tuple(series),
        counts=tuple(counts.values()),
        options=others["option"],
        confidences=others["confidence"],
        rules=others["rule"],
        rule_names=tuple(rules),
        strata=stratum_codes,
        stratum_names=tuple((type, severity) for type, _, severity in (name.partition("\t") for name in strata)),
    )


def _scan(run: ShownRun) -> pl.LazyFrame:
    """The marks of answers to questions; columns that an earlier wardround did not write are empty."""
    scanned = pl.scan_parquet(run.marks)
    known = scanned.collect_schema().names()
    missing = [pl.lit(None, MARKS_SCHEMA[name]).alias(name) for name in MARKS_SCHEMA if name not in known]
    return scanned.with_columns(missing).filter(pl.col("outcome").is_not_null())


def _distinct_rows(scans: Iterable[pl.LazyFrame]) -> pl.DataFrame:
    """The questions of all runs, each once, in the order of the marks."""
    key = ["case", "question"]
    parts = [scan.select(ROW_COLUMNS).unique(key, keep="first", maintain_order=True).collect() for scan in scans]
    empty = pl.DataFrame(schema={name: MARKS_SCHEMA[name] for name in ROW_COLUMNS})
    return pl.concat([empty, *parts]).unique(key, keep="first", maintain_order=True).with_row_index("row")


def _distinct_values(scans: Iterable[pl.LazyFrame], column: pl.Expr) -> list[str]:
    parts = [scan.select(column.unique(maintain_order=True).alias("value")).collect()["value"] for scan in scans]
    return list(dict.fromkeys(value for part in parts for value in part if value is not None))


def _candidates(scan: pl.LazyFrame, run: ShownRun) -> list[str]:
    """The candidates that have marks, in the order of the study."""
    names = scan.select(pl.col("candidate").unique()).collect()["candidate"].to_list()
    order = {name: place for place, name in enumerate(run.candidate_order)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _asked(scan: pl.LazyFrame) -> list[tuple[str, str]]:
    return scan.select("candidate", "condition").unique().collect().rows()


def _cells(
    marks: pl.LazyFrame, places: pl.DataFrame, conditions: list[str], rules: list[str], strata: list[str]
) -> pl.DataFrame:
    """The cells of one candidate, texts as numbers."""
    unparsed_rule = pl.col("rule").filter(pl.col("outcome") == "unparsed").first()

    def code(column: pl.Expr, names: list[str]) -> pl.Expr:
        numbers = {name: number for number, name in enumerate(names)}
        return column.replace_strict(numbers, default=NONE, return_dtype=pl.UInt8)

    numbered = marks.with_columns(
        pl.col("condition").replace_strict(conditions, range(len(conditions)), return_dtype=pl.UInt32)
    )
    return (
        numbered.group_by("case", "question", "condition")
        .agg(
            *((pl.col("outcome") == name).sum().clip(0, 254).cast(pl.UInt8).alias(name) for name in OUTCOMES),
            pl.col("option").drop_nulls().mode().first().cast(pl.UInt8).fill_null(NONE),
            (pl.col("confidence").mean() * CONFIDENCE_STEPS)
            .clip(0, CONFIDENCE_STEPS)
            .round()
            .cast(pl.UInt8)
            .fill_null(NONE),
            code(pl.coalesce(unparsed_rule, pl.col("rule").first()), rules).alias("rule"),
            code(STRATUM.first(), strata).alias("stratum"),
        )
        .join(places.lazy(), on=("case", "question"), how="left")
        .drop("case", "question")
        .collect()
    )


def _without_axis(all_axes: list[dict[str, str]], values: dict[str, str], axis: str) -> int:
    """The condition with `none` on this axis and the same others; -1 if there is none, or it is itself."""
    if values[axis] == "none":
        return -1
    wanted = canonical_json({**values, axis: "none"})
    return next((place for place, other in enumerate(all_axes) if canonical_json(other) == wanted), -1)


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
        "codes": packed(codes.to_numpy().astype("<u4")),
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


def packed(values: NDArray[Any]) -> str:
    """An array as the browser reads it."""
    return b64encode(np.ascontiguousarray(values).tobytes()).decode()
