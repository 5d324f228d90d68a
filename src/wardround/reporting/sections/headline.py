"""The scores: every candidate in the reference condition, without control conditions."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from wardround.measuring.validation.judge_validation import hits_corrected, judge_note
from wardround.reporting.absence import missing_reason
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import reader_note, rubric_note
from wardround.reporting.labels import measure_meaning, measure_title, value_meaning
from wardround.reporting.numbers import format_interval, is_percentage, percent
from wardround.reporting.reference_condition import (
    chance_accuracy,
    ranked_candidates,
    reference_values,
    score_measures,
)
from wardround.reporting.refusals import refusals_note
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.figure_cell import FigureCell, draw_track, format_line, measure_scale
from wardround.reporting.templating import render


@dataclass(frozen=True)
class ScoreTable:
    """One score: each row has label, meaning, cell and, if there is a second measure, its value."""

    title: str
    note: str
    axis: Markup
    rows: list[tuple[str, str, FigureCell, str]]
    second_title: str | None


def headline(run: RunFiles) -> Section:
    measures = score_measures(run)
    condition = [(axis, value, value_meaning(axis, value)) for axis, value in reference_values(run).items()]
    context = {
        "tables": [_table(run, measure) for measure in measures],
        "condition": condition,
        "is_reference": run.condition is None,
        "ordered_by": measure_title(measures[0]) if measures else "",
        "legend": [(measure_title(measure), measure_meaning(measure)) for measure in measures],
        "chance": chance_accuracy(run, "accuracy"),
        "has_comparisons": bool(run.comparison_lines),
        "refusals": refusals_note(run),
        "readings": reader_note(run),
        "best_cases": _best_cases(run),
    }
    return Section("scores", "Scores", render("sections/headline.html", **context))


def _best_cases(run: RunFiles) -> list[tuple[str, str, str | None]]:
    """Accuracy if the answers that could not be read, or were refused, had been right; of candidates with such."""
    lines = ((name, run.find_line("accuracy_if_unparsed_right", name, {})) for name in ranked_candidates(run))
    return [
        (name, percent(line.value), format_interval(line.measure, line.low, line.high))
        for name, line in lines
        if line is not None and line.value is not None and (line.unparsed or line.refused)
    ]


def _table(run: RunFiles, measure: str) -> ScoreTable:
    scale = measure_scale(measure, chance_accuracy(run, measure))
    rows, has_parsed = [], False
    for name in ranked_candidates(run):
        line, parsed = run.find_line(measure, name, {}), run.find_line("accuracy_parsed", name, {})
        cell = replace(format_line(line, missing_reason(run, measure, name, {})), cases=run.line_cases_link(line))
        cell = replace(cell, track=draw_track(name, cell, scale))
        has_parsed |= measure == "accuracy" and parsed is not None and parsed.value is not None
        rows.append((name, _candidate_summary(run, name), cell, percent(parsed.value if parsed else None)))
    notes = []
    if measure.startswith("hit@"):
        notes += [f"By {judge_note(run.folder)}.", *_corrected_hits(run, measure)]
    if measure.startswith("rubric_score"):
        notes.append(rubric_note(run))
    axis = svg.axis(scale) if is_percentage(measure) else Markup("")
    return ScoreTable(measure_title(measure), " ".join(notes), axis, rows, "when parsed" if has_parsed else None)


def _corrected_hits(run: RunFiles, measure: str) -> list[str]:
    """hit@k corrected for the judge's measured errors, in one sentence."""
    figures = []
    if run.condition is not None:  # the correction is of the reference condition
        return []
    for hit in hits_corrected(run.folder, int(measure.partition("@")[2])):
        interval = format_interval(measure, hit["low"], hit["high"])
        figures.append(f"{hit['candidate']} {percent(hit['corrected'])}" + (f" ({interval})" if interval else ""))
    return [f"Corrected for the judge's errors: {'; '.join(figures)}."] if figures else []


def _candidate_summary(run: RunFiles, candidate: str) -> str:
    """A candidate's provider and model, and what sets it apart."""
    entry = run.candidate_entries.get(candidate, {})
    parts = [
        entry.get("provider"),
        entry.get("model"),
        run.remark(candidate) or None,
    ]
    return " · ".join(dict.fromkeys(str(part) for part in parts if part and part != candidate))
