"""Crossed axes: what each changes by itself, and what two change together beyond that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from wardround.measuring.comparing.effects import EFFECTS
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import number, percent, span
from wardround.reporting.run_files import Comparison, RunFolder, read_table
from wardround.reporting.sections.differences import Difference, Differences
from wardround.reporting.sections.section import Section
from wardround.reporting.sentences import SIGNIFICANT, is_significant
from wardround.reporting.templating import render

MANY = 12  # a block with more lines than this is folded to those that may not be chance


@dataclass(frozen=True)
class Crossed:
    """The effects on one measure."""

    title: str
    meaning: str
    main: Differences
    together: Differences


def effects(run: RunFolder) -> Section | None:
    path = run.folder / "effects.csv"
    if not path.is_file():
        return None
    table = read_table(path, EFFECTS)
    if table.is_empty():
        return None
    measures = list(table["measure"].unique(maintain_order=True))
    crossed = [_of_measure(run, table.filter(measure=measure), measure) for measure in measures]
    judged = judged_note(run, measures)
    return Section("effects", "What the conditions change", render("effects.html", crossed=crossed, judged=judged))


def _of_measure(run: RunFolder, table: pl.DataFrame, measure: str) -> Crossed:
    alone = pl.col("with_axis").is_null()
    ends = table.select("low", "high", "effect").unpivot()["value"].drop_nulls()
    scale = svg.around_zero(ends)
    return Crossed(
        measure_title(measure),
        measure_meaning(measure),
        _listed(run, "Each by itself", table.filter(alone), scale),
        _listed(run, "Two together", table.filter(~alone), scale),
    )


def _listed(run: RunFolder, title: str, table: pl.DataFrame, scale: svg.Scale) -> Differences:
    lines = [_line(run, row, scale) for row in table.iter_rows(named=True)]
    first = lines if len(lines) <= MANY else [each for each in lines if is_significant(each.line)]
    folded = [each for each in lines if each not in first]
    return Differences(title, "", svg.axis(scale), first, folded, "")


def _line(run: RunFolder, row: dict[str, Any], scale: svg.Scale) -> Difference:
    line = Comparison(
        measure=row["measure"],
        a=row["value"],
        b=row["reference"],
        slice={"candidate": row["candidate"]},
        value=row["effect"],
        low=row["low"],
        high=row["high"],
        p=row["p"],
        p_adjusted=row["p_adjusted"],
        family=row["axis"] if row["with_axis"] is None else f"{row['axis']} x {row['with_axis']}",
        n=row["n"],
        clusters=row["clusters"],
        method=row["method"],
    )
    text = _sentence(row)
    drawn = svg.interval(row["effect"], row["low"], row["high"], scale=scale, title=text)
    interval = span(row["measure"], row["low"], row["high"])
    return Difference(line, text, drawn, percent(row["effect"]), interval, run.cases_behind(line.slice))


def _sentence(row: dict[str, Any]) -> str:
    """The change in words; of two changes how the effect of the first differs under the second."""
    points = f"{number(100 * abs(row['effect']))} points {'higher' if row['effect'] > 0 else 'lower'} with"
    than = "than"
    if not row["effect"]:
        points, than = "the same with", "and"
    chance = " This may be chance." if row["effect"] and row["p_adjusted"] >= SIGNIFICANT else ""
    if row["with_axis"] is None:
        return f"{row['candidate']}: {points} {row['axis']} {row['value']} {than} with {row['reference']}.{chance}"
    return (
        f"{row['candidate']}: what {row['axis']} {row['value']} changes is {points} {row['with_axis']} "
        f"{row['with_value']} {than} with {row['with_reference']}.{chance}"
    )
