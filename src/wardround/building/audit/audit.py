"""The audit of a case set, and the files that it writes.

findings.jsonl   all findings: severity, kind, what, case, question
audit.json       all figures with their intervals
audit.html       the same as a page, with the data card
croissant.json   the metadata of the set
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.audit.balance import BalanceCounts, count_balance
from wardround.building.audit.card import DataCard, make_card
from wardround.building.audit.croissant import croissant_metadata, missing_fields
from wardround.building.audit.duplicates import (
    case_refs,
    find_image_duplicates,
    find_split_clusters,
    find_text_duplicates,
)
from wardround.building.audit.finding import KINDS, Finding
from wardround.building.audit.images import ScannedImages, find_image_problems, scan_images
from wardround.building.audit.impossible_options import find_impossible_options
from wardround.building.audit.leaks import find_leaks
from wardround.building.audit.option_choices import OptionChoices, compare_option_choices
from wardround.building.audit.page import write_audit_page
from wardround.building.audit.question_pairs import QuestionPair, measure_question_pairs, question_pair_findings
from wardround.building.audit.shortcuts import Shortcut, measure_shortcuts, shortcut_findings
from wardround.building.pipeline.export import write_lines
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.core.names import NO_SYNONYMS, Synonyms

OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True)
class Audit:
    """The findings and figures of an audit; `card` and `metadata` describe the set."""

    cases: int
    questions: int
    clusters: int
    images: int
    hash: str
    findings: list[Finding]
    shortcuts: list[Shortcut]
    question_pairs: list[QuestionPair]
    option_choices: OptionChoices | None
    balance: BalanceCounts
    card: DataCard
    metadata: dict[str, Any]

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    def by_kind(self) -> dict[str, dict[str, int]]:
        """The numbers of errors and warnings of each kind that occurs."""
        counts = Counter((finding.kind, finding.severity) for finding in self.findings)
        return {
            kind: {"errors": counts[kind, "error"], "warnings": counts[kind, "warning"]}
            for kind in KINDS
            if counts[kind, "error"] or counts[kind, "warning"]
        }

    def __str__(self) -> str:
        """A few lines: the findings by kind, the accuracy of each shortcut, and flagged pairs of questions."""
        totals = f"{_plural(self.errors, 'error')}, {_plural(self.warnings, 'warning')}"
        lines = [f"{self.cases:,} cases with {self.questions:,} questions; {totals}"]
        for kind, counts in self.by_kind().items():
            parts = [_plural(counts[name], name[:-1]) for name in ("errors", "warnings") if counts[name]]
            lines.append(f"  {', '.join(parts)}: {KINDS[kind]} ({kind})")
        choices = [str(self.option_choices)] if self.option_choices else []
        guessers = [*self.shortcuts, *(pair for pair in self.question_pairs if pair.flagged)]
        return "\n".join([*lines, *(f"  {guesser}" for guesser in guessers), *choices])

    def to_dict(self) -> dict[str, Any]:
        """All figures, for audit.json."""
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
            "shortcuts": [shortcut.to_dict() for shortcut in self.shortcuts],
            "question_pairs": [pair.to_dict() for pair in self.question_pairs],
            "option_choices": self.option_choices.to_dict() if self.option_choices else None,
            "balance": self.balance.to_dict(),
            "croissant_missing": missing_fields(self.metadata),
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
    """Audits a case set; with `out` the files are written there."""
    cases = CaseSet.open(folder)
    if out is not None and out.exists() and not out.is_dir():
        raise BadInput(out, "is a file; the audit needs a folder")
    result = _run_checks(cases, synonyms, seed, workers, note)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_lines(out / "findings.jsonl", result.findings)
        (out / "audit.json").write_bytes(orjson.dumps(result.to_dict(), option=OPTIONS))
        (out / "croissant.json").write_bytes(orjson.dumps(result.metadata, option=OPTIONS))
        write_audit_page(result, out / "audit.html")
    return result


def _run_checks(
    cases: CaseSet, synonyms: Synonyms, seed: int, workers: int | None, note: Callable[[str], None]
) -> Audit:
    findings = [
        Finding("error", "bad_case", f"line {problem.line}: {problem.field or 'line'}: {problem.message}")
        for problem in cases.problems
    ]
    note(f"{len(cases):,} cases: looking at texts")
    findings += find_leaks(cases, synonyms)
    findings += find_impossible_options(cases)
    refs = case_refs(cases)
    findings += find_split_clusters(refs)
    findings += find_text_duplicates(cases, refs, seed)
    images = ScannedImages()
    if cases.modalities:  # saves two passes over a set without images
        note("looking at images")
        images = scan_images(cases, workers)
        findings += find_image_problems(cases, images, synonyms)
        findings += find_image_duplicates(cases, images, refs)
    note("guessing without the cases")
    shortcuts = measure_shortcuts(cases, seed)
    findings += shortcut_findings(shortcuts)
    question_pairs = measure_question_pairs(cases, seed)
    findings += question_pair_findings(question_pairs)
    card, balance = make_card(cases, images.files), count_balance(cases)
    order = list(KINDS)
    return Audit(
        cases=len(cases),
        questions=cases.question_count,
        clusters=len({ref.cluster for ref in refs}),
        images=len(images.files),
        hash=cases.hash,
        findings=sorted(findings, key=lambda finding: (finding.severity != "error", order.index(finding.kind))),
        shortcuts=shortcuts,
        question_pairs=question_pairs,
        option_choices=compare_option_choices(cases, cases.folder, seed),
        balance=balance,
        card=card,
        metadata=croissant_metadata(card, balance.fields),
    )


def _plural(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
