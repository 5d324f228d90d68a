"""What the candidates' confidence is worth, and every other measure: grids of measures and candidates."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.reporting.grid import Grid, grid
from wardround.reporting.reference import at_reference, ranked, reference, scores
from wardround.reporting.render import render
from wardround.reporting.run import Measure, RunFolder
from wardround.reporting.section import Section
from wardround.reporting.words import CONFIDENCE, measure_meaning, measure_title, method_words, version_words

AXIS = "confidence"


def confidence(run: RunFolder) -> Section | None:
    """One grid per way of obtaining confidence and version (number of votes): these are never mixed."""
    methods = run.varied_axes.get(AXIS)
    ways: dict[tuple[str, str | None], list[Measure]] = {}
    for method in methods or [str((run.declared.get("conditions") or {}).get(AXIS, ""))]:
        for line in _at_reference(run, CONFIDENCE, {AXIS: method} if methods else {}):
            ways.setdefault((method, line.version), []).append(line)
    grids = [
        _grid(run, ", ".join(filter(None, [method_words(method), version_words(version, method)])), lines)
        for (method, version), lines in ways.items()
    ]
    grids = [found for found in grids if found.rows]
    if not grids:
        return None
    held = {axis: value for axis, value in reference(run).items() if axis != AXIS}
    return Section("confidence", "Confidence", render("confidence.html", grids=grids, held=held))


def other_measures(run: RunFolder) -> Section | None:
    """What else was measured in the reference condition."""
    elsewhere = {*scores(run), *CONFIDENCE, "accuracy_parsed", "unparsed"}
    names = [name for name in dict.fromkeys(line.measure for line in run.lines) if name not in elsewhere]
    lines = _at_reference(run, names, {})
    if not lines:
        return None
    told = {"grid": _grid(run, "", lines), "held": reference(run)}
    return Section("measures", "Other measures", render("measures.html", **told))


def _at_reference(run: RunFolder, measures: Iterable[str], changed: dict[str, str]) -> list[Measure]:
    """All versions of some measures in the reference condition, in the order of `measures`."""
    return [
        line
        for measure in measures
        for slice in [at_reference(run, measure, changed)]
        for line in run.lines
        if line.measure == measure and line.slice == slice
    ]


def _grid(run: RunFolder, title: str, lines: list[Measure]) -> Grid:
    """Measures down, candidates across; two versions of a measure have a row each, and nothing has none."""
    groups: dict[tuple[str, str | None], dict[str, Measure]] = {}
    known = {(line.measure, line.version) for line in lines if line.value is not None}
    for line in (line for line in lines if (line.measure, line.version) in known):
        groups.setdefault((line.measure, line.version), {})[line.candidate] = line
    names = [measure for measure, _ in groups]
    columns = ranked(run)
    rows = []
    for (measure, version), found in groups.items():
        label = measure_title(measure) + (f" ({version})" if names.count(measure) > 1 and version else "")
        rows.append((label, measure_meaning(measure), [found.get(name) for name in columns]))
    return grid(run, title, columns, rows)
