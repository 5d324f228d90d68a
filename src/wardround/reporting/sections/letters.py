"""Letter-position bias: is a letter chosen more often than it is right, wherever its option stands?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from wardround.measuring import letter_bias
from wardround.reporting.figures import svg
from wardround.reporting.numbers import percent, span
from wardround.reporting.reference_condition import marks_at_reference, ranked, reference
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

MOVED = ("shuffled", "rotated")  # where letters and options come apart


@dataclass(frozen=True)
class Letter:
    letter: str
    difference: str
    interval: str | None
    chosen: str
    right: str
    track: Markup


@dataclass(frozen=True)
class Choices:
    candidate: str
    n: int
    letters: list[Letter]


def letters(run: RunFolder) -> Section | None:
    """Only where options were moved about: else a letter stands for what is behind it."""
    declared = (run.declared.get("conditions") or {}).get("options", [])
    asked = [value for value in MOVED if value in (declared if isinstance(declared, list) else [declared])]
    if not asked:
        return None
    told = letter_bias(pl.concat([marks_at_reference(run, {"options": value}) for value in asked]), run.as_study)
    ends = [end for column in ("difference", "low", "high") for end in told[column].drop_nulls()]
    scale = svg.around_zero(ends)
    rows = [
        Choices(name, own["n"][0], [_letter(row, name, scale) for row in own.iter_rows(named=True)])
        for name in ranked(run)
        if len(own := told.filter(candidate=name))
    ]
    if not rows:
        return None
    names = [each.letter for each in max(rows, key=lambda row: len(row.letters)).letters]
    held = {axis: value for axis, value in reference(run).items() if axis != "options"}
    drawn = render("letters.html", rows=rows, names=names, held=held, asked=asked)
    return Section("letters", "Choice of letters", drawn)


def _letter(row: dict[str, object], name: str, scale: svg.Scale) -> Letter:
    told = {key: row[key] for key in ("difference", "low", "high", "chosen", "right")}
    value, low, high, chosen, right = (each if isinstance(each, float) else None for each in told.values())
    assert value is not None
    title = f"{name}, letter {row['letter']}: chosen {percent(chosen)}, right {percent(right)}"
    drawn = svg.interval(value, low, high, scale=scale, title=title)
    interval = span("difference", low, high)
    return Letter(str(row["letter"]), percent(value), interval, percent(chosen), percent(right), drawn)
