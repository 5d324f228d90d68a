"""The section Ability and difficulty: an item-response model of the choice questions."""

from pathlib import Path

import scipy
from markupsafe import Markup

from wardround.measuring.engine.tables import write_table
from wardround.measuring.modelling.abilities import Abilities
from wardround.reporting.figures import svg
from wardround.reporting.numbers import join_words, number, percent
from wardround.reporting.reference_condition import reference_values
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

ITEMS_FILE = "item_response.csv"


def abilities(run: RunFiles) -> Section | None:
    """Of at least three candidates; all questions are in item_response.csv next to the page."""
    fitted = run.abilities
    if fitted is None:
        return None
    fit = fitted.fit
    context = {
        "rows": _rows(fitted),
        "axis": svg.axis(svg.Scale()),
        "fixed": reference_values(run),
        "left_out": join_words(fitted.left_out),
        "questions": len(fitted.items),
        "clusters": fitted.clusters,
        "spread": f"{number(fit.spread, 2)} ({number(fit.spread_low, 2)} to {number(fit.spread_high, 2)})",
        "file": ITEMS_FILE if run.condition is None else None,
    }
    return Section("abilities", "Ability and difficulty", render("sections/abilities.html", **context))


def _rows(fitted: Abilities) -> list[tuple[str, Markup, str, str, str]]:
    """Candidate, drawing, chance on an average question, ability, information; the ablest first."""
    fit, scale = fitted.fit, svg.Scale()
    rows = []
    for place in (-fit.abilities).argsort(kind="stable").tolist():
        name, ends = fitted.candidates[place], (fit.ability_low[place], fit.ability_high[place])
        chance, low, high = (float(scipy.special.expit(value)) for value in (fit.abilities[place], *ends))
        interval = f"({percent(low)} to {percent(high)})"
        track = svg.interval(chance, low, high, scale=scale, title=f"{name}: {percent(chance)} {interval}")
        ability = f"{number(fit.abilities[place], 2)} ({number(ends[0], 2)} to {number(ends[1], 2)})"
        rows.append((name, track, f"{percent(chance)} {interval}", ability, number(fit.test_information[place])))
    return rows


def write_items(run: RunFiles, folder: Path) -> None:
    """Writes item_response.csv, if there are enough candidates."""
    fitted = run.abilities
    if fitted is not None:
        write_table(folder / ITEMS_FILE, fitted.items)
