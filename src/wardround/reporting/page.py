"""The report: one HTML file about one run, and a page per case where cases are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wardround.reporting.cases import CaseView, write_cases
from wardround.reporting.render import page, write_page
from wardround.reporting.run import RunFolder, read_run
from wardround.reporting.section import Section, registered_sections
from wardround.reporting.sections import FIRST, LAST


def report(folder: Path, *, cases: Iterable[CaseView] | None = None, out: Path | None = None) -> Path:
    """Writes report.html of a run (or `out`), and with `cases` the folder cases/ beside it."""
    run = read_run(folder)
    target = out or folder / "report.html"
    if cases is not None:
        index = write_cases(cases, target.parent / "cases", run=run.name, report=target.name)
        run = run.linking_to(f"cases/{index.name}")
    return write_page(target, page("report.html", run=run, sections=sections(run), **alerts(run), facts=facts(run)))


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
    sentinels = [
        f"{name}: {told['warning']}"
        for name, told in (run.manifest.get("sentinel") or {}).items()
        if isinstance(told, dict) and told.get("warning")
    ]
    return {
        "notes": run.manifest.get("notes") or [],
        "warnings": list(dict.fromkeys([*(run.manifest.get("warnings") or []), *sentinels])),
        "exploratory": run.manifest.get("exploratory") or [],
        "deviations": deviations,
    }


def facts(run: RunFolder) -> list[tuple[str, str]]:
    """The size of the examination: numbers with their nouns."""
    cases = run.manifest.get("cases") or {}
    told = [
        (cases.get("cases"), "case"),
        (cases.get("questions"), "question"),
        (len(run.candidates), "candidate"),
        (sum(about.get("asks") or 0 for about in run.about.values()) or None, "ask"),
    ]
    return [(f"{many:,}", noun if many == 1 else f"{noun}s") for many, noun in told if many is not None]
