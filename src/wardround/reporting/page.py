"""The report: one HTML file about one run, and with cases a page per case."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from wardround.measuring.engine.encode import Marks
from wardround.reporting.case_pages import CaseView, write_cases
from wardround.reporting.condition_choice import condition_choice
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.sections.abilities import write_items
from wardround.reporting.sections.all_sections import FIRST_SECTIONS, LAST_SECTIONS
from wardround.reporting.sections.items_to_review import write_review
from wardround.reporting.sections.section import Section, SectionMaker, registered_sections
from wardround.reporting.setting_labels import with_setting_notes
from wardround.reporting.templating import page, write_page
from wardround.running.progress import NO_PROGRESS, StepProgress
from wardround.running.run_folder import warnings_of

TRAINING = "the case is for training, and is not examined"


def report(
    folder: Path,
    *,
    marks: pl.LazyFrame | None = None,
    encoded_reference: Marks | None = None,
    cases: Iterable[CaseView] | None = None,
    out: Path | None = None,
    replaced_sections: Mapping[str, SectionMaker] | None = None,
    progress: StepProgress = NO_PROGRESS,
) -> Path:
    """Writes report.html of a run (or `out`), with `cases` the folder cases/, and two tables next to the page.

    They are items_to_review.csv and, of three or more candidates, item_response.csv.

    `marks` and `encoded_reference` are those of `read_run`. `replaced_sections` are used in place of the registered
    sections of the same name.
    """
    run = read_run(folder, marks, encoded_reference)
    target = out or folder / "report.html"
    if cases is not None:
        pages = target.parent / "cases"
        cases = progress.watch("case pages", cases, run.all_marks.select(pl.col("case").n_unique()).collect().item())
        index = write_cases(cases, pages, run=run.name, report=target.name, order=ranked_candidates(run))
        run = replace(run, case_list=f"cases/{index.name}")
    made, choice = sections(run, replaced_sections or {}, progress), condition_choice(run, progress)
    if choice is not None:
        made = [replace(section, follows=section.id in choice.following) for section in made]
    context = {"sections": made, "choice": choice, "facts": facts(run), **alerts(run)}
    scripts = ("theme.js", *(["conditions.js"] if choice is not None else []), "contents.js", "tables.js")
    write_page(target, page("report.html", scripts=scripts, run=run, **context))
    write_review(run, target.parent)
    write_items(run, target.parent)
    return target


def sections(
    run: RunFiles, replaced: Mapping[str, SectionMaker], progress: StepProgress = NO_PROGRESS
) -> list[Section]:
    """The sections of the report, in order; those of plug-ins come after the figures."""
    makers = progress.watch("reporting", FIRST_SECTIONS, len(FIRST_SECTIONS))
    first = [section for make in makers if (section := make(run)) is not None]
    last = [section for make in LAST_SECTIONS if (section := make(run)) is not None]
    with_figures = [*first, *registered_sections(run, replaced)]
    return [*(with_setting_notes(section, run) for section in with_figures), *last]


def alerts(run: RunFiles) -> dict[str, Any]:
    """What a reader must know before the first number."""
    deviations = [
        (name, str(deviation))
        for name, entry in run.candidate_entries.items()
        for deviation in entry.get("deviations") or []
    ]
    return {
        "notes": run.manifest.get("notes") or [],
        "warnings": warnings_of(run.manifest),
        "exploratory": run.manifest.get("exploratory") or [],
        "deviations": deviations,
    }


def facts(run: RunFiles) -> list[tuple[str, str]]:
    """The size of the run: counts with their nouns."""
    asked = run.all_marks.select("case", "question").unique().collect(engine="streaming")
    cases, questions = asked["case"].n_unique(), len(asked)
    counts = [
        (cases, "case examined", "cases examined"),
        (questions, "question", "questions"),
        (len(run.candidates), "candidate", "candidates"),
        (sum(entry.get("asks") or 0 for entry in run.candidate_entries.values()), "ask", "asks"),
    ]
    facts = [(f"{count:,}", singular if count == 1 else plural) for count, singular, plural in counts if count]
    # the manifest counts a training case once for each candidate
    training = (run.manifest.get("inapplicable") or {}).get(TRAINING, 0) // max(len(run.candidates), 1)
    others = ((run.manifest.get("cases") or {}).get("cases") or 0) - cases - training
    omitted = [(training, "for training"), (others, "not examined")]
    facts[1:1] = [(f"{count:,}", reason) for count, reason in omitted if count > 0]
    return facts
