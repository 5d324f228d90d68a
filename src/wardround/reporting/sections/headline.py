"""The scores: every candidate in the reference condition, so that no control is averaged in."""

from __future__ import annotations

from wardround.measuring.validation.judge_validation import hits_corrected, judge_note
from wardround.reporting.labels import measure_meaning, measure_title, value_meaning
from wardround.reporting.numbers import percent, span
from wardround.reporting.reference_condition import at_reference, chance, ranked, reference, scores
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.forest import Forest, forest
from wardround.reporting.templating import render


def headline(run: RunFolder) -> Section:
    measures = scores(run)
    condition = [(axis, value, value_meaning(axis, value)) for axis, value in reference(run).items()]
    told = {
        "tables": [_table(run, measure) for measure in measures],
        "condition": condition,
        "ordered_by": measure_title(measures[0]) if measures else "",
        "legend": [(measure_title(measure), measure_meaning(measure)) for measure in measures],
        "chance": chance(run, "accuracy"),
        "compared": bool(run.compared),
    }
    return Section("scores", "Scores", render("headline.html", **told))


def _table(run: RunFolder, measure: str) -> Forest:
    slice = at_reference(run, measure)

    def parsed(name: str) -> float | None:
        line = run.line("accuracy_parsed", name, slice)
        return line.value if line is not None else None

    beside = measure == "accuracy" and any(parsed(name) is not None for name in run.candidates)
    notes = []
    if slice != reference(run):
        notes.append("Nobody was asked this under the condition above: these figures are over all conditions together.")
    if measure.startswith("hit@"):
        notes += [f"By {judge_note(run.folder)}.", *_corrected(run, measure)]
    return forest(
        run,
        measure,
        [(name, _kind(run, name), run.line(measure, name, slice)) for name in ranked(run)],
        note=" ".join(notes),
        chance=chance(run, measure),
        beside=("when parsed", lambda line: parsed(line.candidate)) if beside else None,
    )


def _corrected(run: RunFolder, measure: str) -> list[str]:
    """hit@k corrected for the errors that the judge was found to make, in one sentence."""
    told = []
    for hit in hits_corrected(run.folder, int(measure.partition("@")[2])):
        interval = span(measure, hit["low"], hit["high"])
        told.append(f"{hit['candidate']} {percent(hit['corrected'])}" + (f" ({interval})" if interval else ""))
    return [f"Corrected for the judge's errors, over all conditions: {'; '.join(told)}."] if told else []


def _kind(run: RunFolder, candidate: str) -> str:
    """What a candidate is, in a line: its provider and model, and that it is blind if it is."""
    told = run.about.get(candidate, {})
    parts = [
        told.get("provider"),
        told.get("model"),
        None if told.get("sees", True) else "does not see images",
    ]
    return " · ".join(dict.fromkeys(str(part) for part in parts if part and part != candidate))
