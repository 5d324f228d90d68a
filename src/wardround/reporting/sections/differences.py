"""Paired differences, a family at a time: those that matter most in sight, the rest folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wardround.measuring.comparing.families import PEOPLE
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judged_note
from wardround.reporting.numbers import listed, percent, span
from wardround.reporting.reference_condition import ranked
from wardround.reporting.run_files import Comparison, RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.sentences import is_significant, sentence
from wardround.reporting.templating import render

OF_PEOPLE = (
    "Each answer of a person against the model's mean over its trials of the same question; the mean over people, its "
    "interval and p over people and cases. It stands wherever people are candidates, whatever the study declares."
)
MANY = 6  # a family with more differences than this is folded to those that matter most


@dataclass(frozen=True)
class Difference:
    line: Comparison
    sentence: str
    track: Markup
    value: str
    interval: str | None
    cases: str | None  # the address of the cases behind it


@dataclass(frozen=True)
class Differences:
    """One family. `missing` are the pairs that share no cases, in words."""

    title: str
    note: str
    axis: Markup
    shown: list[Difference]
    folded: list[Difference]
    missing: str


def comparisons(run: RunFolder) -> Section | None:
    if not run.compared:
        return None
    families = [_family(run, family) for family in dict.fromkeys(line.family for line in run.compared)]
    judged = judged_note(run, (line.measure for line in run.compared))
    return Section("comparisons", "Differences", render("comparisons.html", families=families, judged=judged))


def _family(run: RunFolder, family: str | None) -> Differences:
    told = (run.declared.get("comparisons") or {}).get(family)
    between = (told or {}).get("between", "candidate")
    every = [line for line in run.compared if line.family == family]
    title, note = family or "", ""
    if (family or "").startswith(PEOPLE):
        title, note = title.capitalize(), OF_PEOPLE
    elif told is None:
        title, note = "Every pair of candidates", "The study declares no comparisons, so every pair was compared."
    if between == "severity":  # taken apart by capability, type and so on they are too many to read
        note = "Of all questions together; by capability, skill, category, type and modality: see comparisons.csv."
        every = [line for line in every if list(line.slice) == ["candidate"]]
    lines = [line for line in every if line.value is not None]
    scale = svg.around_zero(end for line in lines for end in (line.low, line.high, line.value) if end is not None)
    best = next((name for name in ranked(run) if name not in run.people), None)
    first = [line for line in lines if is_significant(line) or best in (line.a, line.b)]
    if between != "candidate" or len(lines) <= MANY:
        first = lines
    return Differences(
        title=title,
        note=note,
        axis=svg.axis(scale),
        shown=[_difference(run, line, between, scale) for line in first],
        folded=[_difference(run, line, between, scale) for line in lines if line not in first],
        missing=_missing([line for line in every if line.value is None], between),
    )


def _difference(run: RunFolder, line: Comparison, between: str, scale: svg.Scale) -> Difference:
    assert line.value is not None
    text, interval = sentence(line, between), span(line.measure, line.low, line.high)
    drawn = svg.interval(line.value, line.low, line.high, scale=scale, title=text)
    return Difference(line, text, drawn, percent(line.value), interval, run.cases_behind(line.slice))


def _missing(lines: Sequence[Comparison], between: str) -> str:
    """Who could not be compared, in one sentence."""
    if not lines:
        return ""
    pairs = [
        " and ".join([line.a, line.b]) + (f" for {line.slice['candidate']}" if "candidate" in line.slice else "")
        for line in lines
    ]
    if between != "candidate" and all("candidate" in line.slice for line in lines):
        names = list(dict.fromkeys(line.slice["candidate"] for line in lines))
        return f"Not asked both ways, so not compared: {listed(names)}."
    return f"No cases in common: {'; '.join(pairs)}."
