"""The scores by condition, and by case and question."""

from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.condition import AXES, CONTROL_AXES, DEFAULTS
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_title, slice_title, value_meaning
from wardround.reporting.numbers import join_words
from wardround.reporting.reference_condition import (
    answered_slice_count,
    chance_accuracy,
    ranked_candidates,
    score_measures,
)
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render


@dataclass(frozen=True)
class Breakdown:
    """The figures of one axis or slice key; `gist` summarises a closed block."""

    id: str
    title: str
    keys: str
    gist: str
    grids: list[Grid]
    remarks: Sequence[str] = ()


def by_condition(run: RunFiles) -> Section | None:
    """The scores for each value of each axis but the controls; combinations of several axes are folded."""
    axes = [axis for axis in run.varied_axes if axis not in CONTROL_AXES]
    key_sets = [keys for keys in _slice_key_sets(run) if set(keys) <= set(AXES)]
    if not axes and not key_sets:
        return None
    context = {
        "axes": [_axis_breakdown(run, axis) for axis in axes],
        "several": len(run.varied_axes) > 1,
        "folded_blocks": [_slice_breakdown(run, "conditions", keys, "combination") for keys in key_sets],
        "judged": judging_note(run, score_measures(run)),
    }
    return Section("conditions", "By condition", render("sections/conditions.html", **context))


def controls(run: RunFiles) -> Section | None:
    """The scores when what an answer must rest on is taken away."""
    axes = [axis for axis in run.varied_axes if axis in CONTROL_AXES]
    if not axes:
        return None
    breakdowns, judged = [_axis_breakdown(run, axis) for axis in axes], judging_note(run, score_measures(run))
    context = {"axes": breakdowns, "judged": judged, "meanings": _control_meanings(run, axes)}
    return Section("controls", "Controls", render("sections/controls.html", **context))


def _control_meanings(run: RunFiles, axes: Sequence[str]) -> list[str]:
    """How to read these axes; an axis may be at a control in the reference condition itself."""
    reference = run.study.reference_condition
    controlled = [axis for axis in axes if reference[axis] != DEFAULTS[axis]]
    meanings = []
    if len(controlled) < len(axes):
        meanings.append(
            "Each control removes what an answer should rest on and keeps the rest of the reference condition. A "
            "candidate that keeps its score does not rely on what was removed."
        )
    for axis in controlled:
        text = f"The reference condition is itself a control ({axis} = {reference[axis]}), and so are all other scores."
        if DEFAULTS[axis] in run.varied_axes[axis]:
            text += f" A candidate that scores no higher with {axis} = {DEFAULTS[axis]} does not rely on what it adds."
        else:
            text += f" The study does not ask {axis} = {DEFAULTS[axis]}, so no gain from it is shown."
        meanings.append(text)
    return meanings


def by_slice(run: RunFiles) -> Section | None:
    """The scores by properties of cases and questions, each key folded."""
    key_sets = [keys for keys in _slice_key_sets(run) if not set(keys) <= set(AXES)]
    blocks = [_slice_breakdown(run, "slices", keys, "group") for keys in key_sets]
    # a score of one group only allows no comparison: `kind`, where accuracy and hit@k have one kind each
    folded = [block for block in blocks if any(len(grid.rows) > 1 for grid in block.grids)]
    if not folded:
        return None
    note = judging_note(run, score_measures(run))
    html = render("sections/slices.html", folded_blocks=folded, judged=note)
    return Section("slices", "By case and question", html)


def _axis_breakdown(run: RunFiles, axis: str) -> Breakdown:
    """One axis, with the other axes at their reference values."""
    grids, remarks = [], []
    titles_by_omitted: dict[tuple[str, ...], list[str]] = {}
    values = run.varied_axes[axis]
    for measure in score_measures(run):
        title = measure_title(measure)
        slices = [{axis: value} for value in values]
        columns = [name for name in ranked_candidates(run) if answered_slice_count(run, measure, name, slices) > 1]
        if columns:
            rows = [
                (value, value_meaning(axis, value), [run.find_line(measure, name, slice) for name in columns])
                for value, slice in zip(values, slices, strict=True)
            ]
            grids.append(grid(run, title, columns, rows, tracks=True, chance=chance_accuracy(run, measure)))
        omitted = tuple(name for name in ranked_candidates(run) if name not in columns)
        titles_by_omitted.setdefault(omitted, []).append(title)
    for names, titles in titles_by_omitted.items():
        if names:
            candidates = "all candidates" if len(names) == len(run.candidates) else join_words(names)
            prefix = "Asked" if len(titles) == len(score_measures(run)) else f"{join_words(titles)}: asked"
            remarks.append(f"{prefix} with only one of these values: {candidates}.")
    return Breakdown(f"conditions-{axis}", slice_title(axis), axis, "", grids, remarks)


def _slice_key_sets(run: RunFiles) -> list[tuple[str, ...]]:
    """Each set of slice keys over which a score was measured, except single axes."""
    measures = score_measures(run)
    key_sets = dict.fromkeys(tuple(line.slice) for line in run.measure_lines if line.slice and line.measure in measures)
    return [keys for keys in key_sets if len(keys) > 1 or keys[0] not in AXES]


def _slice_breakdown(run: RunFiles, section: str, keys: tuple[str, ...], noun: str) -> Breakdown:
    """All values of some slice keys, unweighted means last; values without answers are only named."""
    columns = ranked_candidates(run)
    grids, remarks = [], []
    for measure in score_measures(run):
        lines = [line for line in run.measure_lines if line.measure == measure and tuple(line.slice) == keys]
        answered = {tuple(line.slice.values()) for line in lines if line.n}
        values = sorted(dict.fromkeys(tuple(line.slice.values()) for line in lines), key=lambda value: "mean" in value)
        rows = []
        for value in (value for value in values if value in answered):
            slice = dict(zip(keys, value, strict=True))
            meaning = value_meaning(keys[0], value[0]) if len(keys) == 1 else ""
            rows.append((" · ".join(value), meaning, [run.find_line(measure, name, slice) for name in columns]))
        if rows:
            grids.append(grid(run, measure_title(measure), columns, rows))
        if empty := [" · ".join(value) for value in values if value not in answered]:
            remarks.append(f"{measure_title(measure)}: no cases in {join_words(empty)}.")
    title = " × ".join(map(slice_title, keys))
    gist = _gist(grids[0], noun) if grids else "no cases"
    return Breakdown("-".join([section, *keys]), title, " × ".join(keys), gist, grids, remarks)


def _gist(grid: Grid, noun: str) -> str:
    """The number of rows, the number with an interval, and the first candidate's lowest and highest of these."""
    count, with_interval = len(grid.rows), grid.interval_row_count
    text = f"{count} {noun}{'' if count == 1 else 's'}"
    if not with_interval:
        return f"{text}, all with too few cases for an interval"
    text += ", all with an interval" if with_interval == count else f", {with_interval} with an interval"
    firsts = [(row.label, cell, cell.line) for row in grid.rows if (cell := row.cells[0]).interval and cell.line]
    if len(firsts) > 1:
        firsts.sort(key=lambda first: first[2].value or 0.0)
        lowest, highest = (f"{label} {cell.value} ({cell.interval})" for label, cell, _ in (firsts[0], firsts[-1]))
        text += f"; {grid.columns[0]} from {lowest} to {highest}"
    return text
