"""The sections that every report has, in the order in which they stand."""

from __future__ import annotations

import json

import polars as pl

from wardround.reporting.figures import svg
from wardround.reporting.numbers import number
from wardround.reporting.reference_condition import ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.breakdown import by_condition, by_slice
from wardround.reporting.sections.chains import chains
from wardround.reporting.sections.confidence import confidence, other_measures
from wardround.reporting.sections.differences import comparisons
from wardround.reporting.sections.effects import effects
from wardround.reporting.sections.evidence import evidence
from wardround.reporting.sections.gaps import groups, prompts
from wardround.reporting.sections.headline import headline
from wardround.reporting.sections.image_quality import image_quality
from wardround.reporting.sections.items_to_review import review
from wardround.reporting.sections.letters import letters
from wardround.reporting.sections.option_tests import option_tests
from wardround.reporting.sections.ranks import ranks
from wardround.reporting.sections.section import Section, SectionMaker
from wardround.reporting.templating import render

OUTCOMES = ("right", "wrong", "unparsed", "unscored")
COUNTS = {
    "asks": "asks",
    "stored": "already stored",
    "new": "newly asked",
    "calls": "calls",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "cost": "cost",
    "failed": "failed",
    "cut": "cut to fit",
}


def asked(run: RunFolder) -> Section:
    """What was asked and what came back, in counts."""
    counted = run.all_marks.group_by("candidate", "outcome").agg(pl.len()).collect()
    by_candidate: dict[str, dict[str, int]] = {}
    for candidate, outcome, many in counted.iter_rows():
        by_candidate.setdefault(str(candidate), {})[str(outcome)] = many
    outcomes = []
    for name in dict.fromkeys([*ranked(run), *sorted(by_candidate)]):
        parts = [(outcome, by_candidate.get(name, {}).get(outcome, 0)) for outcome in OUTCOMES]
        told = ", ".join(f"{many:,} {outcome}" for outcome, many in parts)
        drawn = svg.shares([(f"outcome {outcome}", many) for outcome, many in parts], f"{name}: {told}")
        outcomes.append((name, parts, drawn, run.cases_behind({"candidate": name})))
    columns = {key: title for key, title in COUNTS.items() if any(key in told for told in run.about.values())}
    return Section(
        "asked",
        "What was asked",
        render(
            "asked.html",
            outcomes=outcomes,
            columns=columns,
            about={name: run.about[name] for name in ranked(run) if name in run.about},
            totals={key: sum(told.get(key) or 0 for told in run.about.values()) for key in columns},
            money=lambda value: "–" if value is None else number(value, 2),
            cases=run.manifest.get("cases") or {},
            inapplicable=run.manifest.get("inapplicable") or {},
            sentinel=run.manifest.get("sentinel") or {},
        ),
    )


def reading(run: RunFolder) -> Section:
    return Section("reading", "How to read this page", render("reading.html"))


def manifest(run: RunFolder) -> Section:
    """Everything that is needed to repeat the run."""
    return Section(
        "manifest",
        "Manifest",
        render(
            "manifest.html",
            manifest=run.manifest,
            study=run.study,
            whole=json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=False),
        ),
    )


FIRST: tuple[SectionMaker, ...] = (
    headline,
    ranks,
    by_condition,
    comparisons,
    effects,
    image_quality,
    evidence,
    by_slice,
    groups,
    confidence,
    chains,
    letters,
    prompts,
    option_tests,
    other_measures,
    review,
)
LAST: tuple[SectionMaker, ...] = (asked, reading, manifest)
