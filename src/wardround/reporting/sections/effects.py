"""Crossed axes: main effects and two-way interactions."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from wardround.measuring.comparing.effects import EFFECTS
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_meaning, measure_title
from wardround.reporting.numbers import number
from wardround.reporting.run_files import ComparisonLine, RunFiles, read_table
from wardround.reporting.sections.differences import (
    SIGNIFICANT,
    Difference,
    Differences,
    difference,
    is_significant,
)
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

MAX_OPEN = 12  # a larger block shows only significant effects


@dataclass(frozen=True)
class MeasureEffects:
    """Main effects and interactions on one measure."""

    title: str
    meaning: str
    main: Differences
    interactions: Differences


def effects(run: RunFiles) -> Section | None:
    path = run.folder / "effects.csv"
    if not path.is_file():
        return None
    table = read_table(path, EFFECTS)
    if table.is_empty():
        return None
    measures = list(table["measure"].unique(maintain_order=True))
    effects_by_measure = [_measure_effects(run, table.filter(measure=measure), measure) for measure in measures]
    html = render("sections/effects.html", measures=effects_by_measure, judged=judging_note(run, measures))
    return Section("effects", "Effects of the conditions", html)


def _measure_effects(run: RunFiles, table: pl.DataFrame, measure: str) -> MeasureEffects:
    is_main = pl.col("with_axis").is_null()
    ends = table.select("low", "high", "effect").unpivot()["value"].drop_nulls()
    scale = svg.scale_around_zero(ends)
    return MeasureEffects(
        measure_title(measure),
        measure_meaning(measure),
        _effect_list(run, "Main effects", table.filter(is_main), scale),
        _effect_list(run, "Interactions", table.filter(~is_main), scale),
    )


def _effect_list(run: RunFiles, title: str, table: pl.DataFrame, scale: svg.Scale) -> Differences:
    differences = [_difference(run, row, scale) for row in table.iter_rows(named=True)]
    shown = differences
    if len(differences) > MAX_OPEN:
        shown = [difference for difference in differences if is_significant(difference.line)]
    folded = [difference for difference in differences if difference not in shown]
    return Differences(title, "", svg.axis(scale), shown, folded, "")


def _difference(run: RunFiles, row: dict[str, Any], scale: svg.Scale) -> Difference:
    line = ComparisonLine(
        a=row["value"],
        b=row["reference"],
        slice={"candidate": row["candidate"]},
        value=row["effect"],
        family=row["axis"] if row["with_axis"] is None else f"{row['axis']} x {row['with_axis']}",
        **{key: row[key] for key in ("measure", "low", "high", "p", "p_adjusted", "n", "clusters", "method")},
    )
    return difference(run, line, _sentence(row), scale)


def _sentence(row: dict[str, Any]) -> str:
    """The effect in words; for an interaction how the effect of one axis differs by the other."""
    points = f"{number(100 * abs(row['effect']))} points {'higher' if row['effect'] > 0 else 'lower'} with"
    than = "than"
    if not row["effect"]:
        points, than = "the same with", "and"
    chance = " This may be chance." if row["effect"] and row["p_adjusted"] >= SIGNIFICANT else ""
    if row["with_axis"] is None:
        return f"{row['candidate']}: {points} {row['axis']} {row['value']} {than} with {row['reference']}.{chance}"
    return (
        f"{row['candidate']}: the effect of {row['axis']} {row['value']} is {points} {row['with_axis']} "
        f"{row['with_value']} {than} with {row['with_reference']}.{chance}"
    )
