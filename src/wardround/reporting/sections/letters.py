"""Letter bias: whether a letter is chosen more often than it is right."""

from typing import Any

import polars as pl

from wardround.measuring import letter_bias
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.figures import svg
from wardround.reporting.numbers import format_interval, percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

REORDERED = ("shuffled", "rotated")  # only then do letters vary independently of the options


def letters(run: RunFiles) -> Section | None:
    """None unless options were reordered: otherwise letter and option cannot be separated."""
    if not (orders := [value for value in REORDERED if value in run.declared_values("options")]):
        return None
    marks = [marks_at_reference(run.marks, run.study, {"options": value}) for value in orders]
    bias = letter_bias(pl.concat(marks), run.study)
    ends = [end for column in ("difference", "low", "high") for end in bias[column].drop_nulls()]
    scale = svg.scale_around_zero(ends)
    rows = [
        (name, own["n"][0], [row | _drawn(row, scale) for row in own.iter_rows(named=True)])
        for name in ranked_candidates(run)
        if len(own := bias.filter(candidate=name))
    ]
    if not rows:
        return None
    names = max(([row["letter"] for row in letters] for _, _, letters in rows), key=len)
    fixed = reference_values(run, without="options")
    html = render("sections/letters.html", rows=rows, names=names, fixed=fixed, orders=orders)
    return Section("letters", "Letter bias", html)


def _drawn(row: dict[str, Any], scale: svg.Scale) -> dict[str, str | None]:
    """The interval of a letter's difference in words, and its drawing."""
    low, high, shares = row["low"], row["high"], f"chosen {percent(row['chosen'])}, right {percent(row['right'])}"
    title = f"{row['candidate']}, letter {row['letter']}: {shares}"
    track = svg.interval(row["difference"], low, high, scale=scale, title=title)
    return {"interval": format_interval("difference", low, high), "track": track}
