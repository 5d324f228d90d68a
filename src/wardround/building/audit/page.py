"""The audit as a page in the style of a report: findings, shortcuts, balance and the data card."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wardround.building.audit.balance import NOT_STATED, TITLES, BalanceCounts
from wardround.building.audit.croissant import FIELDS, missing_fields
from wardround.building.audit.finding import KINDS, Finding
from wardround.building.audit.option_choices import OptionChoices
from wardround.building.audit.question_pairs import NEVER_FLAGGED, RULES, QuestionPair
from wardround.building.audit.shortcuts import SHORTCUTS, Shortcut
from wardround.reporting.figures import svg
from wardround.reporting.numbers import count, percent
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.html import as_html
from wardround.reporting.templating import page, render, write_page

if TYPE_CHECKING:
    from wardround.building.audit.audit import Audit

MAX_FINDINGS = 100  # of a kind on the page; findings.jsonl has all
MAX_FILES = 20
MAX_PAIRS = 12  # of questions; audit.json has all
MAX_VALUES = 8  # of one key; audit.json has all


def write_audit_page(audit: Audit, file: Path) -> Path:
    """Writes audit.html."""
    facts = [
        (audit.cases, "case", "cases"),
        (audit.questions, "question", "questions"),
        (audit.clusters, "cluster", "clusters"),
        (audit.images, "image file", "image files"),
        (audit.errors, "error", "errors"),
        (audit.warnings, "warning", "warnings"),
    ]
    context: dict[str, Any] = {
        "name": audit.card.name,
        "errors": audit.errors,
        "facts": [(count(number), one if number == 1 else several) for number, one, several in facts],
        "sections": [
            _findings(audit.findings),
            _shortcuts(audit.shortcuts, audit.option_choices),
            *([_question_pairs(audit.question_pairs)] if audit.question_pairs else []),
            _balance(audit.balance),
            _card(audit),
        ],
    }
    return write_page(file, page("audit/page.html", **context))


def _findings(findings: list[Finding]) -> Section:
    groups = []
    for (severity, kind), group in groupby(findings, key=lambda finding: (finding.severity, finding.kind)):
        members = list(group)
        shown = {"meaning": KINDS[kind], "many": len(members), "listed": members[:MAX_FINDINGS]}
        groups.append({"severity": severity, "kind": kind, **shown})
    looked_for = [meaning for kind, meaning in KINDS.items() if kind not in {finding.kind for finding in findings}]
    html = render("audit/findings.html", groups=groups, looked_for=looked_for)
    return Section("findings", "What was found", html)


def _shortcuts(shortcuts: list[Shortcut], choices: OptionChoices | None) -> Section:
    scale = svg.Scale(marked=shortcuts[0].chance if shortcuts else None)
    rows = []
    for shortcut in shortcuts:
        interval = None if shortcut.low is None else f"{percent(shortcut.low)} to {percent(shortcut.high)}"
        accuracy = f"{percent(shortcut.accuracy)} ({interval or 'too few clusters'})"
        title = f"{shortcut.name}: {accuracy}; chance {percent(shortcut.chance)}"
        rows.append(
            {
                "name": shortcut.name,
                "meaning": SHORTCUTS[shortcut.name],
                "as_learnt": None if shortcut.as_learnt is None else percent(shortcut.as_learnt),
                "track": svg.interval(shortcut.accuracy, shortcut.low, shortcut.high, scale=scale, title=title),
                "value": percent(shortcut.accuracy),
                "interval": interval,
                "flagged": shortcut.flagged,
                "n": count(shortcut.questions),
                "clusters": count(shortcut.clusters),
            }
        )
    chance = shortcuts[0].chance if shortcuts else None
    context = {"rows": rows, "axis": svg.axis(scale), "chance": chance, "choices": choices}
    return Section("shortcuts", "Shortcuts", render("audit/shortcuts.html", **context))


def _question_pairs(pairs: list[QuestionPair]) -> Section:
    """The best guesser of each pair that is flagged or comes close, and how well questions fit together."""
    accuracy_by_rule = {(pair.name, pair.rule): pair for pair in pairs}
    rows = [
        (name, [accuracy_by_rule[name, rule] for rule in RULES], accuracy_by_rule[name, next(iter(RULES))])
        for name in dict.fromkeys(pair.name for pair in pairs)
    ]
    rows.sort(key=lambda row: -max(pair.accuracy / pair.chance for pair in row[1] if pair.rule != NEVER_FLAGGED))
    context = {"rows": rows[:MAX_PAIRS], "rules": RULES, "more": max(0, len(rows) - MAX_PAIRS)}
    return Section("question-pairs", "Other questions of a case", render("audit/question-pairs.html", **context))


def _balance(balance: BalanceCounts) -> Section:
    blocks = []
    for key, title in TITLES.items():
        total = balance.total(key)
        values = balance.ordered(key)
        if not values or [name for name, _ in values] == [NOT_STATED]:
            continue
        if len(values) > MAX_VALUES + 1 and key != "answer":
            rest = sum(number for _, number in values[MAX_VALUES:])
            values = [*values[:MAX_VALUES], (f"{len(values) - MAX_VALUES} others", rest)]
        rows = [
            (
                name,
                count(number),
                percent(number / total),
                svg.bar(min(1, number / total), f"{name}: {number:,} of {total:,}"),
            )
            for name, number in values
        ]
        distinct = len(balance.counts[key]) if key == "answer" else None
        blocks.append({"title": title, "rows": rows, "distinct": distinct})
    untold = [title for key, title in TITLES.items() if set(balance.counts[key]) == {NOT_STATED}]
    return Section("balance", "Balance", render("audit/balance.html", blocks=blocks, untold=untold))


def _card(audit: Audit) -> Section:
    card = audit.card
    fields = [(field["name"], FIELDS[field["name"]]) for field in audit.metadata["recordSet"][0]["field"]]
    context = {
        "metadata": audit.metadata,
        "about": [(key, _plain(value)) for key, value in card.about.items()],
        "missing": missing_fields(audit.metadata),
        "sources": sorted(card.sources.items()),
        "settings": [(key, _plain(value)) for key, value in card.settings.items() if value is not None],
        "funnel": as_html(card.funnel) if card.funnel else None,
        "fields": fields,
        "files": list(card.files.items())[:MAX_FILES],
        "more_files": max(0, len(card.files) - MAX_FILES),
    }
    return Section("card", "Data card", render("audit/card.html", **context))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(member)}" for key, member in value.items())
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)
