"""The report: one HTML file about one run, and a page per case where cases are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from wardround.reporting.case_pages import CaseView, write_cases
from wardround.reporting.reference_condition import ranked
from wardround.reporting.run_files import RunFolder, read_run
from wardround.reporting.sections.all_sections import FIRST, LAST
from wardround.reporting.sections.items_to_review import write_review
from wardround.reporting.sections.section import Section, registered_sections
from wardround.reporting.templating import page, write_page
from wardround.running.run_folder import warnings_of

TRAINING = "the case is for training, and is not examined"


def report(folder: Path, *, cases: Iterable[CaseView] | None = None, out: Path | None = None) -> Path:
    """Writes report.html of a run (or `out`), beside it items_to_review.csv, and with `cases` the folder cases/."""
    run = read_run(folder)
    target = out or folder / "report.html"
    if cases is not None:
        told = {"run": run.name, "report": target.name, "order": ranked(run)}
        index = write_cases(cases, target.parent / "cases", **told)
        run = run.linking_to(f"cases/{index.name}")
    write_page(target, page("report.html", run=run, sections=sections(run), **alerts(run), facts=facts(run)))
    write_review(run, target.parent)
    return target


def sections(run: RunFolder) -> list[Section]:
    """What the report is made of, in order; packages add theirs after the figures."""
    first = [section for make in FIRST if (section := make(run)) is not None]
    last = [section for make in LAST if (section := make(run)) is not None]
    return [*first, *registered_sections(run), *last]


def alerts(run: RunFolder) -> dict[str, Any]:
    """What a reader has to know before the first number."""
    deviations = [
        (name, str(deviation)) for name, told in run.about.items() for deviation in told.get("deviations") or []
    ]
    return {
        "notes": run.manifest.get("notes") or [],
        "warnings": warnings_of(run.manifest),
        "exploratory": run.manifest.get("exploratory") or [],
        "deviations": deviations,
    }


def facts(run: RunFolder) -> list[tuple[str, str]]:
    """The size of the examination: numbers with their nouns."""
    cases, questions = (
        run.all_marks.select(pl.col("case").n_unique(), pl.struct("case", "question").n_unique().alias("questions"))
        .collect()
        .row(0)
    )
    told = [
        (cases, "case examined", "cases examined"),
        (questions, "question", "questions"),
        (len(run.candidates), "candidate", "candidates"),
        (sum(about.get("asks") or 0 for about in run.about.values()), "ask", "asks"),
    ]
    facts = [(f"{many:,}", one if many == 1 else several) for many, one, several in told if many]
    # the manifest counts a training case once for each candidate
    training = (run.manifest.get("inapplicable") or {}).get(TRAINING, 0) // max(len(run.candidates), 1)
    others = ((run.manifest.get("cases") or {}).get("cases") or 0) - cases - training
    left_out = [(training, "for training"), (others, "not examined")]
    facts[1:1] = [(f"{many:,}", why) for many, why in left_out if many > 0]
    return facts
