"""What the candidates' confidence is worth, and every other measure: grids of measures and candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import CONFIDENCE, measure_meaning, measure_title, value_meaning
from wardround.reporting.reference_condition import at_reference, by_part, ranked, reference, scores
from wardround.reporting.run_files import TOGETHER, Measure, RunFolder
from wardround.reporting.sections.calibration import Calibration, calibrations
from wardround.reporting.sections.chains import CHAINED
from wardround.reporting.sections.evidence import is_of_evidence
from wardround.reporting.sections.option_tests import OPTION_TESTS
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render
from wardround.reporting.versions import variant_words, version_parts, way_words

AXIS = "confidence"
PARTS = {"esa": "grade", "mcs": "without"}  # told by a key alone
MANY = 6  # more candidates than this are folded


@dataclass(frozen=True)
class Way:
    """One way of obtaining confidence: its diagrams, its figures, and those of all candidates together."""

    title: str
    shown: list[Calibration]
    folded: list[Calibration]
    grid: Grid
    together: Grid


def confidence(run: RunFolder) -> Section | None:
    """Each way of obtaining confidence and each number of votes apart: these are never mixed."""
    methods = run.varied_axes.get(AXIS)
    ways = []
    for method in methods or [str((run.declared.get("conditions") or {}).get(AXIS, ""))]:
        changed = {AXIS: method} if methods else {}
        ways += _ways(run, method, changed)
    if not ways:
        return None
    held = {axis: value for axis, value in reference(run).items() if axis != AXIS}
    told = {"ways": ways, "held": held, "drawn": any(way.shown for way in ways)}
    return Section("confidence", "Confidence", render("confidence.html", **told))


def _ways(run: RunFolder, method: str, changed: Mapping[str, str]) -> list[Way]:
    by_way: dict[str, list[Measure]] = {}
    for line in _at_reference(run, CONFIDENCE, changed):
        by_way.setdefault(version_parts(line.version)[1], []).append(line)
    drawn = calibrations(run, changed)
    ways = []
    for way, lines in by_way.items():
        own = _grid(run, ranked(run), [line for line in lines if line.candidate != TOGETHER])
        together = _grid(run, [TOGETHER], [line for line in lines if line.candidate == TOGETHER])
        if own.rows or together.rows:
            diagrams = drawn.get(way, [])
            ways.append(Way(way_words(method, way), diagrams[:MANY], diagrams[MANY:], own, together))
    return ways


def other_measures(run: RunFolder) -> Section | None:
    """What else was measured in the reference condition."""
    elsewhere = {*scores(run), *CONFIDENCE, *OPTION_TESTS, *CHAINED, "accuracy_parsed", "unparsed"}
    there = dict.fromkeys(line.measure for line in run.lines)
    names = [name for name in there if name not in elsewhere and not is_of_evidence(name)]
    grids = [_grid(run, ranked(run), _at_reference(run, names, {})), *(_parts(run, *part) for part in PARTS.items())]
    if not (grids := [found for found in grids if found.rows]):
        return None
    told = {"grids": grids, "held": reference(run), "judged": judged_note(run, names)}
    return Section("measures", "Other measures", render("measures.html", **told))


def _parts(run: RunFolder, measure: str, key: str) -> Grid:
    """A measure that is told by a key alone: a row for each of its values."""
    columns = ranked(run)
    rows = [
        (slice[key], value_meaning(key, slice[key]), [run.line(measure, name, slice) for name in columns])
        for slice in by_part(run, measure, key)
    ]
    return grid(run, measure_title(measure), columns, rows)


def _at_reference(run: RunFolder, measures: Iterable[str], changed: Mapping[str, str]) -> list[Measure]:
    """All versions of some measures in the reference condition, in the order of `measures`."""
    return [
        line
        for measure in measures
        for slice in [at_reference(run, measure, changed)]
        for line in run.lines
        if line.measure == measure and line.slice == slice
    ]


def _grid(run: RunFolder, columns: list[str], lines: list[Measure]) -> Grid:
    """Measures down, candidates across; two versions of a measure have a row each, and nothing has none."""
    groups: dict[tuple[str, str | None], dict[str, Measure]] = {}
    known = {(line.measure, line.version) for line in lines if line.value is not None}
    for line in (line for line in lines if (line.measure, line.version) in known):
        groups.setdefault((line.measure, line.version), {})[line.candidate] = line
    names = [measure for measure, _ in groups]
    rows = []
    for (measure, version), found in groups.items():
        several = names.count(measure) > 1 and measure not in CONFIDENCE
        added, instead = variant_words(version_parts(version)[0]) or (version if several else "", "")
        label = f"{measure_title(measure)}, {added}" if added else measure_title(measure)
        rows.append((label, instead or measure_meaning(measure), [found.get(name) for name in columns]))
    return grid(run, "", columns, rows)
