"""The audit of a case set, and the files that it leaves.

findings.jsonl   everything that was found: severity, kind, what, case, question
audit.json       all figures with their intervals
audit.html       the same as a page, with the data card
croissant.json   the metadata of the set
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.audit import balance as counting
from wardround.building.audit.card import Card, card
from wardround.building.audit.croissant import croissant, missing
from wardround.building.audit.duplicates import image_duplicates, places, split_clusters, text_duplicates
from wardround.building.audit.finding import KINDS, Finding
from wardround.building.audit.images import image_findings
from wardround.building.audit.leaks import leaks
from wardround.building.audit.look import Images, looked_at
from wardround.building.audit.page import write_audit_page
from wardround.building.audit.shortcuts import Shortcut, shortcut_findings, shortcuts
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms

OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True)
class Audit:
    """What was found. `card` and `metadata` say what the set is."""

    cases: int
    questions: int
    clusters: int
    images: int
    hash: str
    findings: list[Finding]
    shortcuts: list[Shortcut]
    balance: counting.Balance
    card: Card
    metadata: dict[str, Any]

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    def by_kind(self) -> dict[str, dict[str, int]]:
        """How many errors and warnings there are of each kind that was found."""
        counts = Counter((finding.kind, finding.severity) for finding in self.findings)
        return {
            kind: {"errors": counts[kind, "error"], "warnings": counts[kind, "warning"]}
            for kind in KINDS
            if counts[kind, "error"] or counts[kind, "warning"]
        }

    def __str__(self) -> str:
        """In a few lines: what was found by kind, and how far each shortcut goes."""
        lines = [f"{self.cases:,} cases with {self.questions:,} questions; {_many(self.errors, 'error')}, "]
        lines[0] += _many(self.warnings, "warning")
        for kind, many in self.by_kind().items():
            told = [_many(many[name], name[:-1]) for name in ("errors", "warnings") if many[name]]
            lines.append(f"  {', '.join(told)}: {KINDS[kind]} ({kind})")
        return "\n".join([*lines, *(f"  {shortcut}" for shortcut in self.shortcuts)])

    def told(self) -> dict[str, Any]:
        """All figures, as JSON."""
        return {
            "wardround": __version__,
            "name": self.card.name,
            "cases": self.cases,
            "questions": self.questions,
            "clusters": self.clusters,
            "images": self.images,
            "blake2b": self.hash,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": self.by_kind(),
            "shortcuts": [shortcut.told() for shortcut in self.shortcuts],
            "balance": self.balance.told(),
            "croissant_missing": missing(self.metadata),
        }


def audit(
    folder: Path | str,
    out: Path | None = None,
    *,
    synonyms: Synonyms = NO_SYNONYMS,
    seed: int = 0,
    workers: int | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Audit:
    """Looks a case set over; with `out` the files are written there."""
    cases = CaseSet.open(folder)
    if out is not None and out.exists() and not out.is_dir():
        raise BadInput(out, "is a file; the audit needs a folder")
    found = _looked_over(cases, synonyms, seed, workers, note)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "findings.jsonl").write_bytes(b"".join(orjson.dumps(each.told()) + b"\n" for each in found.findings))
        (out / "audit.json").write_bytes(orjson.dumps(found.told(), option=OPTIONS))
        (out / "croissant.json").write_bytes(orjson.dumps(found.metadata, option=OPTIONS))
        write_audit_page(found, out / "audit.html")
    return found


def _looked_over(
    cases: CaseSet, synonyms: Synonyms, seed: int, workers: int | None, note: Callable[[str], None]
) -> Audit:
    findings = [
        Finding("error", "bad_case", f"line {problem.line}: {problem.field or 'line'}: {problem.message}")
        for problem in cases.problems
    ]
    note(f"{len(cases):,} cases: looking at texts")
    findings += leaks(cases, synonyms)
    stand = places(cases)
    findings += split_clusters(stand)
    findings += text_duplicates(cases, stand, seed)
    images = Images()
    if cases.modalities:  # a set without images is not read once more for each look at them
        note("looking at images")
        images = looked_at(cases, workers)
        findings += image_findings(cases, images, synonyms)
        findings += image_duplicates(cases, images, stand)
    note("guessing without the cases")
    guessed = shortcuts(cases, seed)
    findings += shortcut_findings(guessed)
    about, counted = card(cases, images.files), counting.balance(cases)
    order = list(KINDS)
    return Audit(
        cases=len(cases),
        questions=cases.question_count,
        clusters=len({place.cluster for place in stand}),
        images=len(images.files),
        hash=cases.hash,
        findings=sorted(findings, key=lambda each: (each.severity != "error", order.index(each.kind))),
        shortcuts=guessed,
        balance=counted,
        card=about,
        metadata=croissant(about, counted.fields),
    )


def _many(many: int, noun: str) -> str:
    return f"{many or 'no'} {noun}{'' if many == 1 else 's'}"
