"""Gaps between groups of patients and between prompts: the worst against the rest, and the gap that chance gives."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from wardround.core.canonical import canonical_json
from wardround.measuring import prompt_sensitivity
from wardround.measuring.comparing.groups import PEOPLE, find_gaps
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.engine.slices import in_order
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_title, slice_title
from wardround.reporting.numbers import count, format_interval, join_words, percent
from wardround.reporting.reference_condition import (
    ranked_candidates,
    reference_values,
    score_measures,
)
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

FIRST_TAG = "rare"
ALL_EQUAL = "all equal"


@dataclass(frozen=True)
class GroupComparison:
    """The groups of one key: a table for each score, and a sentence about groups with too few cases."""

    id: str
    title: str
    tables: list[tuple[str, list[dict[str, Any]]]]
    too_few: str
    folded: bool = False


def group_gaps(run: RunFiles) -> Section | None:
    """Age, sex, modality and tags; tags other than `rare` are folded."""
    gaps_by_measure = {measure: find_gaps(run.compare_patients(measure)) for measure in score_measures(run)}
    sizes = _sizes(run.reference_marks)
    blocks = []
    for key in PEOPLE[:-1]:
        if len(sizes.get(key, {})) > 1:
            tables = {measure: gaps.filter(pl.col("key") == key) for measure, gaps in gaps_by_measure.items()}
            blocks.append(_comparison(run, f"groups-{key}", slice_title(key), tables, _too_few(sizes[key])))
    tags = sorted(sizes.get("tag", {}), key=lambda tag: (tag != FIRST_TAG, tag))
    for index, tag in enumerate(tags):
        with_tag = pl.col("worst").is_in(_tag_slices(tag)) & pl.col("best").is_in(_tag_slices(tag))
        tables = {measure: gaps.filter(pl.col("key") == "tag", with_tag) for measure, gaps in gaps_by_measure.items()}
        too_few = _too_few({tag: sizes["tag"][tag], f"not {tag}": sizes["not tag"][tag]})
        if tag == FIRST_TAG or any(len(gaps) for gaps in tables.values()):
            blocks.append(
                _comparison(run, f"groups-tag-{index}", f"Tag {tag}", tables, too_few, folded=tag != FIRST_TAG)
            )
    if not blocks:
        return None
    return Section("groups", "Groups of patients", _render(run, blocks, reference_values(run), FEWEST))


def prompt_gaps(run: RunFiles) -> Section | None:
    """How far the scores depend on the prompt, if several were used."""
    if "prompt" not in run.varied_axes:
        return None
    marks = marks_at_reference(run.marks, run.study, over="prompt")
    tables = {measure: prompt_sensitivity(marks, run.study, measure) for measure in score_measures(run)}
    if all(gaps.is_empty() for gaps in tables.values()):
        return None
    fixed = reference_values(run, without="prompt")
    block = _comparison(run, "prompts-prompt", "", tables, "")
    return Section("prompts", "Sensitivity to the prompt", _render(run, [block], fixed, None))


def _render(run: RunFiles, blocks: list[GroupComparison], fixed: dict[str, str], min_clusters: int | None) -> Markup:
    context = {"blocks": blocks, "fixed": fixed, "min_clusters": min_clusters, "axis": svg.axis(svg.Scale())}
    return render("sections/gaps.html", judged=judging_note(run, score_measures(run)), **context)


def _comparison(
    run: RunFiles, id: str, title: str, tables: dict[str, pl.DataFrame], too_few: str, folded: bool = False
) -> GroupComparison:
    titled = [(measure_title(measure), list(_gaps(run, measure, table))) for measure, table in tables.items()]
    return GroupComparison(id, title, [(name, rows) for name, rows in titled if rows], too_few, folded)


def _gaps(run: RunFiles, measure: str, table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The worst and the best group of each candidate, and the gap between them."""
    row_by_name = {row["candidate"]: row for row in table.iter_rows(named=True)}
    for name in (name for name in ranked_candidates(run) if name in row_by_name):
        row = row_by_name[name]
        all_equal = row["worst"] == row["best"]
        worst, best = (ALL_EQUAL if all_equal else _group_name(row[end]) for end in ("worst", "best"))
        interval = format_interval(measure, row["worst_low"], row["worst_high"])
        title = f"{name}: {worst} {percent(row['worst_value'])} ({interval}), {best} {percent(row['best_value'])}"
        ends = (row["worst_value"], row["worst_low"], row["worst_high"], row["best_value"])
        yield row | {
            "worst": worst,
            "worst_interval": interval,
            "best": best,
            "difference_interval": format_interval(measure, row["difference_low"], row["difference_high"]),
            "track": svg.interval_to_point(*ends, scale=svg.Scale(), title=title),
        }


def _group_name(slice: str) -> str:
    return str(next(iter(json.loads(slice).values())))


def _tag_slices(tag: str) -> list[str]:
    return [canonical_json({"tag": name}) for name in (tag, f"not {tag}")]


def _sizes(marks: pl.LazyFrame) -> dict[str, dict[str, int]]:
    """The number of clusters of each group, by key; `not tag` counts those without each tag."""
    keys = [key for key in PEOPLE if key in marks.collect_schema()]
    members = marks.select("cluster", *keys).unique().collect(engine="streaming")
    clusters = members["cluster"].to_list()
    sizes: dict[str, dict[str, int]] = {}
    for key in keys:
        clusters_by_group: dict[str, set[str]] = {}
        for cluster, groups in zip(clusters, members[key].to_list(), strict=True):
            for group in groups if isinstance(groups, list) else [groups]:
                if group is not None:
                    clusters_by_group.setdefault(group, set()).add(cluster)
        sizes[key] = {group: len(clusters_by_group[group]) for group in in_order(key, clusters_by_group)}
    total = len(set(clusters))
    sizes["not tag"] = {tag: total - size for tag, size in sizes.get("tag", {}).items()}
    return sizes


def _too_few(sizes: dict[str, int]) -> str:
    """A sentence about groups with too few cases; empty if there are none."""
    groups = {f"{name} ({count(size)})": size for name, size in sizes.items()}
    small = [group for group, size in groups.items() if size < FEWEST]
    if len(groups) - len(small) < 2:
        return f"Too few cases to compare: {join_words(list(groups))}."
    return f"Too few cases, left out: {join_words(small)}." if small else ""
