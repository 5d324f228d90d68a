"""The audit as a page: findings, shortcuts, balance with pictures, and the data card. It looks like a report."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wardround.building.audit.balance import NOT_TOLD, TITLES, Balance
from wardround.building.audit.croissant import FIELDS, missing
from wardround.building.audit.finding import KINDS, Finding
from wardround.building.audit.shortcuts import SHORTCUTS, Shortcut
from wardround.reporting.figures import svg
from wardround.reporting.numbers import count, percent
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.templating import page, render, write_page

if TYPE_CHECKING:
    from wardround.building.audit.audit import Audit

LISTED = 100  # findings of a kind on the page; findings.jsonl has all
FILES_LISTED = 20
ROWS = 8  # values of one thing; audit.json has all


def write_audit_page(found: Audit, file: Path) -> Path:
    """Writes audit.html."""
    facts = [
        (found.cases, "case", "cases"),
        (found.questions, "question", "questions"),
        (found.clusters, "cluster", "clusters"),
        (found.images, "image file", "image files"),
        (found.errors, "error", "errors"),
        (found.warnings, "warning", "warnings"),
    ]
    told: dict[str, Any] = {
        "name": found.card.name,
        "errors": found.errors,
        "facts": [(count(many), one if many == 1 else several) for many, one, several in facts],
        "sections": [_findings(found.findings), _shortcuts(found.shortcuts), _balance(found.balance), _card(found)],
    }
    return write_page(file, page("audit.html", **told))


def _findings(findings: list[Finding]) -> Section:
    groups = []
    for (severity, kind), members in groupby(findings, key=lambda each: (each.severity, each.kind)):
        every = list(members)
        groups.append(
            {"severity": severity, "kind": kind, "meaning": KINDS[kind], "many": len(every), "listed": every[:LISTED]}
        )
    looked_for = [meaning for kind, meaning in KINDS.items() if kind not in {finding.kind for finding in findings}]
    html = render("audit_findings.html", groups=groups, looked_for=looked_for)
    return Section("findings", "What was found", html)


def _shortcuts(found: list[Shortcut]) -> Section:
    scale = svg.Scale(marked=found[0].chance if found else None)
    rows = []
    for each in found:
        interval = None if each.low is None else f"{percent(each.low)} to {percent(each.high)}"
        title = (
            f"{each.name}: {percent(each.accuracy)} ({interval or 'too few clusters'}); chance {percent(each.chance)}"
        )
        rows.append(
            {
                "name": each.name,
                "meaning": SHORTCUTS[each.name],
                "as_learnt": None if each.as_learnt is None else percent(each.as_learnt),
                "track": svg.interval(each.accuracy, each.low, each.high, scale=scale, title=title),
                "value": percent(each.accuracy),
                "interval": interval,
                "flagged": each.flagged,
                "n": count(each.questions),
                "clusters": count(each.clusters),
            }
        )
    told: dict[str, Any] = {"rows": rows, "axis": svg.axis(scale), "chance": found[0].chance if found else None}
    return Section("shortcuts", "Shortcuts", render("audit_shortcuts.html", **told))


def _balance(found: Balance) -> Section:
    blocks = []
    for key, title in TITLES.items():
        total = found.of(key)
        values = found.ordered(key)
        if not values or [name for name, _ in values] == [NOT_TOLD]:
            continue
        if len(values) > ROWS + 1 and key != "answer":
            rest = sum(many for _, many in values[ROWS:])
            values = [*values[:ROWS], (f"{len(values) - ROWS} others", rest)]
        rows = [
            (name, count(many), percent(many / total), svg.bar(min(1, many / total), f"{name}: {many:,} of {total:,}"))
            for name, many in values
        ]
        distinct = len(found.counts[key]) if key == "answer" else None
        blocks.append({"title": title, "rows": rows, "distinct": distinct})
    untold = [title for key, title in TITLES.items() if set(found.counts[key]) == {NOT_TOLD}]
    return Section("balance", "Balance", render("audit_balance.html", blocks=blocks, untold=untold))


def _card(found: Audit) -> Section:
    card = found.card
    fields = [(field["name"], FIELDS[field["name"]]) for field in found.metadata["recordSet"][0]["field"]]
    told = {
        "told": found.metadata,
        "about": [(key, _plain(value)) for key, value in card.told.items()],
        "missing": missing(found.metadata),
        "sources": sorted(card.sources.items()),
        "settings": [(key, _plain(value)) for key, value in card.settings.items() if value is not None],
        "funnel": as_html(card.funnel) if card.funnel else None,
        "fields": fields,
        "files": list(card.files.items())[:FILES_LISTED],
        "more_files": max(0, len(card.files) - FILES_LISTED),
    }
    return Section("card", "Data card", render("audit_card.html", **told))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(each)}" for key, each in value.items())
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)
