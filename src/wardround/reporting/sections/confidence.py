"""Measures of confidence, and all other measures: grids of measures and candidates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import (
    CONFIDENCE,
    measure_base,
    measure_meaning,
    measure_source,
    measure_title,
    source_title,
    title_without_source,
    value_meaning,
)
from wardround.reporting.reference_condition import (
    ranked_candidates,
    reference_values,
    score_measures,
    slices_by_key,
)
from wardround.reporting.run_files import ALL_CANDIDATES, MeasureLine, RunFiles
from wardround.reporting.sections.calibration import Calibration, calibrations
from wardround.reporting.sections.chains import CHAINED
from wardround.reporting.sections.evidence import is_evidence_measure
from wardround.reporting.sections.option_tests import OPTION_TESTS
from wardround.reporting.sections.section import Section
from wardround.reporting.summary.claims import confidence_claim
from wardround.reporting.summary.figures import confidence_figures
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render

AXIS = "confidence"
KEY_BY_MEASURE = {"esa": "grade", "mcs": "without"}  # measures that exist only by a slice key
MAX_OPEN = 6  # further candidates are folded


@dataclass(frozen=True)
class ConfidenceMethod:
    """One source of confidence: its diagrams, the figures of each candidate, and those over all candidates."""

    title: str
    sentences: list[tuple[str, str]]  # of each candidate
    shown: list[Calibration]
    folded: list[Calibration]
    grid: Grid
    over_candidates: Grid


def confidence(run: RunFiles) -> Section | None:
    """Each source of confidence and each number of votes separately: they are never mixed."""
    methods = run.declared_values(AXIS)
    sources = []
    for method in methods:
        sources += _confidence_methods(run, method, {AXIS: method} if len(methods) > 1 else {})
    if not sources:
        return None
    fixed, has_diagrams = reference_values(run, without=AXIS), any(source.shown for source in sources)
    html = render("sections/confidence.html", sources=sources, fixed=fixed, has_diagrams=has_diagrams)
    return Section("confidence", "Confidence", html)


def _confidence_methods(run: RunFiles, method: str, changed: Mapping[str, str]) -> list[ConfidenceMethod]:
    lines_by_source: dict[str, list[MeasureLine]] = {}
    bases = {name: measure_base(name) for name in run.measure_names}
    names = sorted((n for n in bases if bases[n] in CONFIDENCE), key=lambda name: CONFIDENCE.index(bases[name]))
    for line in _lines_at_reference(run, names, changed):
        lines_by_source.setdefault(measure_source(line.measure), []).append(line)
    if not lines_by_source:
        return []
    diagrams_by_source = calibrations(run, changed)
    methods = []
    for source, lines in lines_by_source.items():
        own = _grid(run, ranked_candidates(run), [line for line in lines if line.candidate != ALL_CANDIDATES])
        over_candidates = _grid(run, [ALL_CANDIDATES], [line for line in lines if line.candidate == ALL_CANDIDATES])
        if own.rows or over_candidates.rows:
            diagrams = diagrams_by_source.get(source, [])
            shown, folded = diagrams[:MAX_OPEN], diagrams[MAX_OPEN:]
            title = source_title(method, source, run.study.trials)
            sentences = _sentences(run, source, changed)
            methods.append(ConfidenceMethod(title, sentences, shown, folded, own, over_candidates))
    return methods


def _sentences(run: RunFiles, source: str, changed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Whether the confidence of each candidate is of use, by the rules of the summary."""
    tells, bias = confidence_figures(run, source, changed)
    made = [(name, confidence_claim(tells.get(name), bias.get(name))) for name in ranked_candidates(run)]
    return [(run.printed_name(name), claim.sentence) for name, claim in made if claim is not None]


def other_measures(run: RunFiles) -> Section | None:
    """All measures in the reference condition that no other section shows."""
    elsewhere = {*score_measures(run), *CONFIDENCE, *OPTION_TESTS, *CHAINED, "accuracy_parsed", "unparsed", "refused"}
    measures = run.measure_names
    names = [name for name in measures if measure_base(name) not in elsewhere and not is_evidence_measure(name)]
    grids = [_grid(run, ranked_candidates(run), _lines_at_reference(run, names, {}), measure_title)]
    grids += [_grid_by_key(run, measure, key) for measure, key in KEY_BY_MEASURE.items()]
    if not (grids := [table for table in grids if table.rows]):
        return None
    context = {"grids": grids, "fixed": reference_values(run), "judged": judging_note(run, names)}
    return Section("measures", "Other measures", render("sections/measures.html", **context))


def _grid_by_key(run: RunFiles, measure: str, key: str) -> Grid:
    """A measure by one key: a row for each of its values."""
    columns = ranked_candidates(run)
    rows = [
        (slice[key], value_meaning(key, slice[key]), [run.find_line(measure, name, slice) for name in columns])
        for slice in slices_by_key(run, measure, key)
    ]
    return grid(run, measure_title(measure), columns, rows)


def _lines_at_reference(run: RunFiles, measures: Iterable[str], changed: Mapping[str, str]) -> list[MeasureLine]:
    """The lines of some measures in the reference condition, in the order of `measures`."""
    return [
        line
        for measure in measures
        for slice in [changed]
        for line in run.measure_lines
        if line.measure == measure and line.slice == slice
    ]


def _grid(
    run: RunFiles, columns: list[str], lines: list[MeasureLine], title: Callable[[str], str] = title_without_source
) -> Grid:
    """A row for each measure that has a value, a column for each candidate."""
    lines_by_measure: dict[str, dict[str, MeasureLine]] = {}
    with_value = {line.measure for line in lines if line.value is not None}
    for line in lines:
        if line.measure in with_value:
            lines_by_measure.setdefault(line.measure, {})[line.candidate] = line
    rows = [
        (title(measure), measure_meaning(measure), [own.get(name) for name in columns])
        for measure, own in lines_by_measure.items()
    ]
    return grid(run, "", columns, rows)
