"""The built-in sections of a report, in order."""

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from wardround.core.study import OUTCOMES
from wardround.reporting.absence import MEANINGS
from wardround.reporting.figures import svg
from wardround.reporting.numbers import number
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.abilities import abilities
from wardround.reporting.sections.acceptance import acceptance
from wardround.reporting.sections.breakdown import by_condition, by_slice, controls
from wardround.reporting.sections.chains import chains
from wardround.reporting.sections.confidence import confidence, other_measures
from wardround.reporting.sections.differences import comparisons
from wardround.reporting.sections.effects import effects
from wardround.reporting.sections.evidence import evidence
from wardround.reporting.sections.gaps import group_gaps, prompt_gaps
from wardround.reporting.sections.headline import headline
from wardround.reporting.sections.image_quality import image_quality
from wardround.reporting.sections.items_to_review import review
from wardround.reporting.sections.letters import letters
from wardround.reporting.sections.option_tests import option_tests
from wardround.reporting.sections.ranks import ranks
from wardround.reporting.sections.section import Section, SectionMaker
from wardround.reporting.sections.settings import settings
from wardround.reporting.summary.summary import summary_section
from wardround.reporting.templating import render

COUNT_TITLES = {
    "asks": "asks",
    "stored": "already stored",
    "new": "new",
    "calls": "calls",
    "tokens_in": "input tokens",
    "tokens_out": "output tokens",
    "cached_in": "input from the cache",
    "cost": "cost",
    "saved": "saved by batches",
    "saved_by_cache": "saved by the cache",
    "estimated_in": "input, estimated",
    "estimated_out": "output, estimated",
    "estimated_cost": "cost, estimated",
    "failed": "failed",
    "cut": "cut to fit",
}


def counts(run: RunFiles) -> Section:
    """What was asked and how the answers were marked, in counts."""
    mark_counts = run.all_marks.group_by("candidate", "outcome").agg(pl.len()).collect()
    counts_by_candidate: dict[str, dict[str, int]] = {}
    for candidate, outcome, count in mark_counts.iter_rows():
        counts_by_candidate.setdefault(str(candidate), {})[str(outcome)] = count
    outcomes, has_rubrics = [], any("graded" in own for own in counts_by_candidate.values())
    shown = [outcome for outcome in OUTCOMES if outcome != "graded" or has_rubrics]
    for name in dict.fromkeys([*ranked_candidates(run), *sorted(counts_by_candidate)]):
        parts = [(outcome, counts_by_candidate.get(name, {}).get(outcome, 0)) for outcome in shown]
        title = ", ".join(f"{count:,} {outcome}" for outcome, count in parts)
        bar = svg.stacked_bar([(f"outcome {outcome}", count) for outcome, count in parts], f"{name}: {title}")
        outcomes.append((name, parts, bar, run.cases_link({"candidate": name})))
    entries = {name: _with_estimate(entry) for name, entry in run.candidate_entries.items()}
    columns = {key: title for key, title in COUNT_TITLES.items() if any(key in entry for entry in entries.values())}
    return Section(
        "asked",
        "What was asked",
        render(
            "sections/counts.html",
            outcomes=outcomes,
            outcome_names=shown,
            columns=columns,
            entries={name: entries[name] for name in ranked_candidates(run) if name in entries},
            totals={key: sum(entry.get(key) or 0 for entry in entries.values()) for key in columns},
            costs=("cost", "saved", "saved_by_cache", "estimated_cost"),
            unreported={name: count for name, entry in entries.items() if (count := entry.get("tokens_estimated"))},
            format_cost=lambda value: "–" if value is None else number(value, 2),
            cases=run.manifest.get("cases") or {},
            inapplicable=run.manifest.get("inapplicable") or {},
            sentinel=run.manifest.get("sentinel") or {},
        ),
    )


def _with_estimate(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest entry with what was expected before the run, beside what was billed."""
    estimate = entry.get("estimate")
    if not estimate or not (entry.get("tokens_in") or estimate["tokens_in"]):
        return dict(entry)
    names = {"tokens_in": "estimated_in", "tokens_out": "estimated_out", "cost": "estimated_cost"}
    return {**entry, **{title: estimate[name] for name, title in names.items()}}


def reading(run: RunFiles) -> Section:
    return Section("reading", "How to read this page", render("sections/reading.html", missing=MEANINGS))


def manifest(run: RunFiles) -> Section:
    """Everything needed to repeat the run."""
    return Section(
        "manifest",
        "Manifest",
        render(
            "sections/manifest.html",
            manifest=run.manifest,
            study_text=run.study_text,
            manifest_json=json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=False),
        ),
    )


FIRST_SECTIONS: tuple[SectionMaker, ...] = (
    summary_section,
    acceptance,
    headline,
    ranks,
    by_condition,
    controls,
    comparisons,
    effects,
    image_quality,
    evidence,
    by_slice,
    group_gaps,
    confidence,
    chains,
    letters,
    prompt_gaps,
    option_tests,
    other_measures,
    abilities,
    review,
)
# those that are made again for every condition of the page; the others compare conditions, or are about the whole run
FOLLOWING_SECTIONS: tuple[SectionMaker, ...] = (
    summary_section,
    headline,
    ranks,
    controls,
    comparisons,
    by_slice,
    group_gaps,
    confidence,
    chains,
    letters,
    option_tests,
    other_measures,
    abilities,
    review,
)
LAST_SECTIONS: tuple[SectionMaker, ...] = (settings, counts, reading, manifest)
