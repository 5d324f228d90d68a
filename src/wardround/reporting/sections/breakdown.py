"""The scores taken apart: by condition, and by case and question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.condition import AXES
from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import measure_title, slice_title, slice_words, value_meaning
from wardround.reporting.numbers import listed, percent, span
from wardround.reporting.reference_condition import asked_under, at_reference, chance, ranked, reference, scores
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.grid import Grid, grid
from wardround.reporting.templating import render


@dataclass(frozen=True)
class Block:
    """The figures of one axis or slice key; `gist` says before it is opened what is in it."""

    id: str
    title: str
    keys: str
    gist: str
    grids: list[Grid]
    remarks: Sequence[str] = ()


def by_condition(run: RunFolder) -> Section | None:
    """What each other value of an axis changes; the rest of the conditions, folded."""
    if not run.varied_axes:
        return None
    folded = [_slicing(run, "conditions", keys, "combination") for keys in _slicings(run) if set(keys) <= set(AXES)]
    told = {
        "axes": [_axis(run, axis) for axis in run.varied_axes],
        "several": len(run.varied_axes) > 1,
        "folded_blocks": [*folded, _together(run)],
        "judged": judged_note(run, scores(run)),
    }
    return Section("conditions", "By condition", render("conditions.html", **told))


def by_slice(run: RunFolder) -> Section | None:
    """Which cases and questions are hard for whom, each key folded."""
    blocks = [_slicing(run, "slices", keys, "group") for keys in _slicings(run) if not set(keys) <= set(AXES)]
    # a score that one group alone has says nothing about groups: the kind of question, with accuracy and hit@k
    folded = [block for block in blocks if any(len(found.rows) > 1 for found in block.grids)]
    if not folded:
        return None
    told = {"folded_blocks": folded, "varied": bool(run.varied_axes), "judged": judged_note(run, scores(run))}
    return Section("slices", "By case and question", render("slices.html", **told))


def _axis(run: RunFolder, axis: str) -> Block:
    """One axis with the others at their reference."""
    grids, remarks = [], []
    alone: dict[tuple[str, ...], list[str]] = {}
    values = run.varied_axes[axis]
    for measure in scores(run):
        title = measure_title(measure)
        slices = [at_reference(run, measure, {axis: value}) for value in values]
        columns = [name for name in ranked(run) if asked_under(run, measure, name, slices) > 1]
        if columns:
            rows = [
                (value, value_meaning(axis, value), [run.line(measure, name, slice) for name in columns])
                for value, slice in zip(values, slices, strict=True)
            ]
            grids.append(grid(run, title, columns, rows, tracks=True, chance=chance(run, measure)))
        if any(slice != reference(run) | slice for slice in slices):
            remarks.append(f"{title}: over all values of the other axes, where they could not be held.")
        alone.setdefault(tuple(name for name in ranked(run) if name not in columns), []).append(title)
    for names, titles in alone.items():
        if names:
            who = "all candidates" if len(names) == len(run.candidates) else listed(names)
            what = "Asked" if len(titles) == len(scores(run)) else f"{listed(titles)}: asked"
            remarks.append(f"{what} in only one of these ways: {who}.")
    return Block(f"conditions-{axis}", slice_title(axis), axis, "", grids, remarks)


def _together(run: RunFolder) -> Block:
    """Everything pooled, and each axis over all values of the others."""
    slices: list[dict[str, str]] = [{}]
    if len(run.varied_axes) > 1:
        slices += [{axis: value} for axis, values in run.varied_axes.items() for value in values]
    columns = ranked(run)
    grids = [
        grid(
            run,
            measure_title(measure),
            columns,
            [
                (slice_words(slice) or "everything", "", [run.line(measure, name, slice) for name in columns])
                for slice in slices
            ],
        )
        for measure in scores(run)
    ]
    gist = "controls are averaged in, so this is no score"
    return Block("conditions-together", "All conditions together", "", gist, grids)


def _slicings(run: RunFolder) -> list[tuple[str, ...]]:
    """Each set of slice keys that a score was measured over, but for single axes."""
    chosen = scores(run)
    there = dict.fromkeys(tuple(line.slice) for line in run.lines if line.slice and line.measure in chosen)
    return [keys for keys in there if len(keys) > 1 or keys[0] not in AXES]


def _slicing(run: RunFolder, section: str, keys: tuple[str, ...], noun: str) -> Block:
    """All the values of some slice keys, unweighted means last; where nobody was asked, only their names."""
    columns = ranked(run)
    grids, remarks = [], []
    for measure in scores(run):
        lines = [line for line in run.lines if line.measure == measure and tuple(line.slice) == keys]
        asked = {tuple(line.slice.values()) for line in lines if line.n}
        values = sorted(dict.fromkeys(tuple(line.slice.values()) for line in lines), key=lambda value: "mean" in value)
        rows = []
        for value in (value for value in values if value in asked):
            slice = dict(zip(keys, value, strict=True))
            meaning = value_meaning(keys[0], value[0]) if len(keys) == 1 else ""
            rows.append((" · ".join(value), meaning, [run.line(measure, name, slice) for name in columns]))
        if rows:
            grids.append(grid(run, measure_title(measure), columns, rows))
        if empty := [" · ".join(value) for value in values if value not in asked]:
            remarks.append(f"{measure_title(measure)}: no cases in {listed(empty)}.")
    title = " × ".join(map(slice_title, keys))
    gist = _gist(grids[0], noun) if grids else "no cases"
    return Block("-".join([section, *keys]), title, " × ".join(keys), gist, grids, remarks)


def _gist(found: Grid, noun: str) -> str:
    """How many rows, how many with enough cases, and the first candidate's lowest and highest of these."""
    many = len(found.rows)
    text = f"{many} {noun}{'' if many == 1 else 's'}"
    if not found.with_interval:
        return f"{text}, too few cases for an interval in any"
    text += ", all with an interval" if found.with_interval == many else f", {found.with_interval} with an interval"
    sure = [(row.label, row.cells[0].line) for row in found.rows if row.cells[0].interval]
    lines = sorted(((line.value or 0.0, label, line) for label, line in sure if line is not None), key=lambda it: it[0])
    if len(lines) > 1:
        ends = [
            f"{label} {percent(line.value)} ({span(line.measure, line.low, line.high)})"
            for _, label, line in (lines[0], lines[-1])
        ]
        text += f"; {found.columns[0]} from {ends[0]} to {ends[1]}"
    return text
