"""Gaps between groups of patients and between prompts: who fares worst, by how much, and what chance alone gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from wardround.core.canonical import canonical_json
from wardround.measuring import prompt_sensitivity, subgroup_gaps
from wardround.measuring.comparing.groups import PEOPLE
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.slices import NATURAL_ORDER
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import measure_title, slice_title
from wardround.reporting.numbers import count, listed, percent, span
from wardround.reporting.reference_condition import marks_at_reference, ranked, reference, scores
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

FIRST_TAG = "rare"
ALIKE = "all alike"


@dataclass(frozen=True)
class Gap:
    """One candidate: its worst and its best group, and the gap between them."""

    candidate: str
    worst: str
    worst_value: str
    worst_interval: str | None
    best: str
    best_value: str
    gap: str
    gap_interval: str | None
    noise: str
    track: Markup


@dataclass(frozen=True)
class Compared:
    """The groups of one key: a table of each score, and which groups say nothing."""

    id: str
    title: str
    tables: list[tuple[str, list[Gap]]]
    too_few: str
    folded: bool = False


def groups(run: RunFolder) -> Section | None:
    """Age, sex, modality and tags; tags but `rare` folded."""
    marks = marks_at_reference(run)
    told = {measure: subgroup_gaps(marks, run.as_study, PEOPLE, measure) for measure in scores(run)}
    sizes = _sizes(marks)
    blocks = []
    for key in PEOPLE[:-1]:
        if len(sizes.get(key, {})) > 1:
            tables = {measure: found.filter(pl.col("key") == key) for measure, found in told.items()}
            blocks.append(_compared(run, f"groups-{key}", slice_title(key), tables, _few(sizes[key])))
    tags = sorted(sizes.get("tag", {}), key=lambda tag: (tag != FIRST_TAG, tag))
    for place, tag in enumerate(tags):
        with_tag = pl.col("worst").is_in(_named(tag)) & pl.col("best").is_in(_named(tag))
        tables = {measure: found.filter(pl.col("key") == "tag", with_tag) for measure, found in told.items()}
        few = _few({tag: sizes["tag"][tag], f"not {tag}": sizes["not tag"][tag]})
        if tag == FIRST_TAG or any(len(found) for found in tables.values()):
            blocks.append(_compared(run, f"groups-tag-{place}", f"Tag {tag}", tables, few, folded=tag != FIRST_TAG))
    if not blocks:
        return None
    return Section("groups", "Groups of patients", _drawn(run, blocks, reference(run), FEWEST))


def prompts(run: RunFolder) -> Section | None:
    """How far the scores depend on the wording, where several prompts were asked."""
    if "prompt" not in run.varied_axes:
        return None
    marks = marks_at_reference(run, over=("prompt",))
    tables = {measure: prompt_sensitivity(marks, run.as_study, measure) for measure in scores(run)}
    if all(found.is_empty() for found in tables.values()):
        return None
    held = {axis: value for axis, value in reference(run).items() if axis != "prompt"}
    block = _compared(run, "prompts-prompt", "", tables, "")
    return Section("prompts", "Wording of the prompt", _drawn(run, [block], held, None))


def _drawn(run: RunFolder, blocks: list[Compared], held: dict[str, str], fewest: int | None) -> Markup:
    told = {"blocks": blocks, "held": held, "fewest": fewest, "axis": svg.axis(svg.Scale())}
    return render("gaps.html", judged=judged_note(run, scores(run)), **told)


def _compared(
    run: RunFolder, id: str, title: str, tables: dict[str, pl.DataFrame], too_few: str, folded: bool = False
) -> Compared:
    drawn = [(measure_title(measure), list(_gaps(run, measure, found))) for measure, found in tables.items()]
    return Compared(id, title, [(name, rows) for name, rows in drawn if rows], too_few, folded)


def _gaps(run: RunFolder, measure: str, found: pl.DataFrame) -> Iterator[Gap]:
    by_name = {row["candidate"]: row for row in found.iter_rows(named=True)}
    for name in (name for name in ranked(run) if name in by_name):
        row = by_name[name]
        worst, best = (ALIKE, ALIKE) if row["worst"] == row["best"] else (_group(row["worst"]), _group(row["best"]))
        interval = span(measure, row["worst_low"], row["worst_high"])
        title = f"{name}: {worst} {percent(row['worst_value'])} ({interval}), {best} {percent(row['best_value'])}"
        ends = (row["worst_value"], row["worst_low"], row["worst_high"], row["best_value"])
        yield Gap(
            candidate=name,
            worst=worst,
            worst_value=percent(row["worst_value"]),
            worst_interval=interval,
            best=best,
            best_value=percent(row["best_value"]),
            gap=percent(row["gap"]),
            gap_interval=span(measure, row["gap_low"], row["gap_high"]),
            noise=percent(row["noise"]),
            track=svg.reaching(*ends, scale=svg.Scale(), title=title),
        )


def _group(slice: str) -> str:
    return str(next(iter(json.loads(slice).values())))


def _named(tag: str) -> list[str]:
    return [canonical_json({"tag": name}) for name in (tag, f"not {tag}")]


def _sizes(marks: pl.LazyFrame) -> dict[str, dict[str, int]]:
    """How many clusters each group has, by key; `not tag` has those without each tag."""
    schema = marks.collect_schema()
    found: dict[str, dict[str, int]] = {}
    for key in (key for key in PEOPLE if key in schema):
        told = marks.select(pl.col(key).alias("group"), "cluster").unique()
        whole = told.select(pl.col("cluster").n_unique()).collect().item()
        told = told.explode("group") if isinstance(schema[key], pl.List) else told
        counted = told.drop_nulls().group_by("group").agg(pl.col("cluster").n_unique()).sort("group").collect()
        order = NATURAL_ORDER.get(key, [])
        told_sizes = sorted(counted.iter_rows(), key=lambda row: order.index(row[0]) if row[0] in order else len(order))
        found[key] = dict(told_sizes)
        if key == "tag":
            found["not tag"] = {tag: whole - many for tag, many in found[key].items()}
    return found


def _few(sizes: dict[str, int]) -> str:
    """Which groups are too small, in a sentence; empty where none is."""
    few = [f"{name} ({count(many)})" for name, many in sizes.items() if many < FEWEST]
    if len(sizes) - len(few) < 2:
        every = [f"{name} ({count(many)})" for name, many in sizes.items()]
        return f"Too few cases to compare: {listed(every)}."
    return f"Too few cases, left out: {listed(few)}." if few else ""
