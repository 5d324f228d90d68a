"""Applies the verdicts on a case set's items and writes a new case set; the old one is never changed.

DIR/cases.jsonl, images/           the cases that are kept, edited
DIR/rejected.jsonl, funnel.csv     those of the set, and what the step `review` left out
DIR/manifest.json                  that of the set, with `review`
DIR/reviewed/items.jsonl           readings that are still required: first, second or arbitration
DIR/reviewed/verdicts.jsonl        every verdict that counted
DIR/reviewed/changes.jsonl         every edit with the old value
DIR/reviewed/agreement.csv         kappa of each batch

The input is always the set as it was built and all verdicts so far: there is no other state between rounds.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround.building.pipeline.export import (
    OPTIONS,
    describe_content,
    new_set,
    write_funnel,
    write_lines,
    write_table,
)
from wardround.building.pipeline.pipeline import RejectedRecord, StepCount
from wardround.building.review.decisions import (
    ARBITRATION,
    DISPUTE,
    SETTLED,
    UNREAD,
    WAITING,
    BatchAgreement,
    ItemDecision,
    decide_items,
)
from wardround.building.review.edits import FieldEdit, apply_edits
from wardround.building.review.items import PHYSICIAN, SHARE, list_items
from wardround.building.review.verdicts import DISCARD, EDIT, KEEP, VERDICTS, ReviewVerdict, read_verdicts
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

STEP = "review"
UNDECIDED = "held: not decided yet"


@dataclass(frozen=True)
class ReviewResult:
    """The decisions on a set's items, and what they changed."""

    decisions: list[ItemDecision]
    agreements: list[BatchAgreement]
    changes: list[FieldEdit]
    rejected: list[RejectedRecord]
    funnel: StepCount
    without_case: int  # kept or edited items of records that never became a case: to be built again

    def to_dict(self) -> dict[str, Any]:
        states = Counter(decision.state for decision in self.decisions)
        verdicts = Counter(decision.verdict for decision in self.decisions if decision.verdict)
        return {
            "items": len(self.decisions),
            "states": dict(sorted(states.items())),
            "verdicts": dict(sorted(verdicts.items())),
            "agreement": [_agreement_row(agreement) for agreement in self.agreements],
            "funnel": self.funnel._asdict(),
            "edits": len(self.changes),
            "kept_without_case": self.without_case,
        }

    def table(self) -> Table:
        """The decisions of each queue as a table."""
        rows = []
        for queue in dict.fromkeys(decision.item.queue for decision in self.decisions):
            decisions = [decision for decision in self.decisions if decision.item.queue == queue]
            states = Counter(decision.state for decision in decisions)
            verdicts = Counter(decision.verdict for decision in decisions if decision.state == SETTLED)
            counts = [
                len(decisions),
                *(verdicts[verdict] for verdict in VERDICTS),
                states[ARBITRATION],
                states[DISPUTE],
            ]
            rows.append(TableRow((queue,), [Cell(count) for count in [*counts, states[UNREAD] + states[WAITING]]]))
        names = ("items", *VERDICTS, ARBITRATION, DISPUTE, "to read")
        notes = [_describe_agreement(agreement) for agreement in self.agreements]
        return Table("Human check", ("Queue",), [Column(name, unit="count") for name in names], rows, notes)

    def to_read(self) -> Iterator[dict[str, Any]]:
        """The readings that are still required, one per line."""
        for decision in self.decisions:
            if decision.state == ARBITRATION:
                readings = [reading.model_dump() for reading in decision.readings]
                yield decision.item.to_line(PHYSICIAN) | {"arbitration": True, "readings": readings}
            elif decision.state in (UNREAD, WAITING):
                for level in decision.item.missing_levels(reading.level for reading in decision.readings):
                    yield decision.item.to_line(level)


def review(
    folder: Path,
    verdicts: Sequence[Path] = (),
    out: Path | None = None,
    *,
    share: float = SHARE,
    seed: int = 0,
    check: int | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> ReviewResult:
    """Decides the items of a set by its verdict files; with `out` the new set is written there.

    `check`: a physician checks so many random cases; the others stay as they are.
    """
    if not 0 <= share <= 1:
        raise WardroundError(f"the share of double reading is between 0 and 1, not {share:g}")
    cases = CaseSet.read(folder)
    if (cases.folder / "reviewed").exists():
        raise BadInput(cases.folder, "was made by a review: give the set that it was made of, with all verdicts")
    items = list_items(cases, share=share, seed=seed, check=check)
    counted = read_verdicts(verdicts, {item.item for item in items})
    decisions, agreements = decide_items(items, counted)
    kept, changes, rejected = _apply_decisions(cases, decisions)
    case_ids = {case.id for case in cases} | {item.case for item in items if item.held_case}
    reasons = dict(Counter(record.reason for record in rejected).most_common())
    funnel = StepCount(STEP, len(case_ids), len(kept), reasons)
    without_case = sum(
        decision.verdict not in (None, DISCARD) and decision.item.case not in case_ids for decision in decisions
    )
    result = ReviewResult(decisions, agreements, changes, rejected, funnel, without_case)
    if out is not None:
        with new_set(out, seed, note, source=folder) as build:
            settings = {"share": share, "seed": seed} | ({} if check is None else {"check": check})
            _write(build.folder, cases, kept, counted, result, settings)
    return result


def _apply_decisions(
    cases: CaseSet, decisions: Sequence[ItemDecision]
) -> tuple[list[dict[str, Any]], list[FieldEdit], list[RejectedRecord]]:
    """The cases that are kept, edited; the changes to them; and the cases that are left out."""
    decisions_by_case: dict[str, list[ItemDecision]] = {}
    held_cases: dict[str, dict[str, Any]] = {}
    for decision in decisions:
        decisions_by_case.setdefault(decision.item.case, []).append(decision)
        if decision.item.held_case is not None:
            held_cases.setdefault(decision.item.case, decision.item.held_case)
    kept, changes, rejected = [], [], []
    for id, case in {**{case.id: case.as_written() for case in cases}, **held_cases}.items():
        case_decisions = decisions_by_case.get(id, [])
        if reason := _rejection(case_decisions, id in held_cases):
            rejected.append(RejectedRecord(id, STEP, *reason))
            continue
        for decision in case_decisions:
            if decision.verdict in (KEEP, EDIT):
                case = decision.item.add_question(case)
            if (edit := decision.edit) is not None:
                case, edits = apply_edits(case, edit)
                changes += edits
        kept.append(case)
    return kept, changes, rejected


def _rejection(decisions: Sequence[ItemDecision], is_held: bool) -> tuple[str, str] | None:
    """The gravest reason to leave a case out. Items that would add a question do not count."""
    decisions = [decision for decision in decisions if decision.item.added_question is None]
    for decision in decisions:
        if decision.verdict == DISCARD:
            reason = "discarded by reviewers" if decision.state == SETTLED else decision.state
            details = (detail for reading in decision.readings for detail in reading.reasons)
            return reason, "; ".join(dict.fromkeys(details))
    if waiting := next((decision for decision in decisions if decision.state == ARBITRATION), None):
        return ARBITRATION, waiting.item.item
    if is_held and any(decision.verdict is None for decision in decisions):
        return UNDECIDED, next(decision.item.item for decision in decisions if decision.verdict is None)
    return None


def _write(
    folder: Path,
    cases: CaseSet,
    kept: list[dict[str, Any]],
    verdicts: Sequence[ReviewVerdict],
    result: ReviewResult,
    settings: dict[str, Any],
) -> None:
    new_cases = [Case.model_validate(case) for case in kept]
    write_case_set(new_cases, folder)
    paths = sorted({image.path for case in new_cases for image in case.images})
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        cases.copy_image(Image(path=path), folder / path)
    for table in sorted(cases.folder.glob("*.toml")):  # the tables that the set was built with
        (folder / table.name).write_bytes(table.read_bytes())
    _write_account(folder, cases.folder, result)
    reviewed = folder / "reviewed"
    reviewed.mkdir()
    write_lines(reviewed / "verdicts.jsonl", [verdict.model_dump() for verdict in verdicts])
    write_lines(reviewed / "items.jsonl", result.to_read())
    write_lines(reviewed / "changes.jsonl", (change._asdict() for change in result.changes))
    agreements = [_agreement_row(agreement) for agreement in result.agreements]
    write_table(reviewed / "agreement.csv", [*BatchAgreement._fields, "arbitrate"], agreements)
    old_manifest = cases.folder / "manifest.json"
    manifest = orjson.loads(old_manifest.read_bytes()) if old_manifest.is_file() else {}
    manifest[STEP] = settings | {
        "of": cases.hash,
        "verdicts": len(verdicts),
        "sha256_of_verdicts": hashlib.sha256((reviewed / "verdicts.jsonl").read_bytes()).hexdigest(),
    }
    manifest |= describe_content(folder, [Path(path).name for path in paths])
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest, option=OPTIONS))


def _write_account(folder: Path, old_folder: Path, result: ReviewResult) -> None:
    """Appends the rejected cases and the funnel of the review to those of the build."""
    rejected = (record._asdict() for record in result.rejected)
    old = old_folder / "rejected.jsonl"
    write_lines(folder / "rejected.jsonl", rejected, start=old.read_bytes() if old.is_file() else b"")
    old_funnel = old_folder / "funnel.csv"
    start = old_funnel.read_text(encoding="utf-8") if old_funnel.is_file() else ""
    write_funnel(folder / "funnel.csv", [result.funnel], start)


def _agreement_row(agreement: BatchAgreement) -> dict[str, Any]:
    return agreement._asdict() | {
        "kappa": None if math.isnan(agreement.kappa) else round(agreement.kappa, 6),
        "arbitrate": agreement.needs_arbitration,
    }


def _describe_agreement(agreement: BatchAgreement) -> str:
    kappa = "undefined (both always say the same)" if math.isnan(agreement.kappa) else f"{agreement.kappa:.2f}"
    text = (
        f"{agreement.queue}: {agreement.one} and {agreement.other}: kappa {kappa}, "
        f"the same in {agreement.agreed} of {agreement.items} items"
    )
    return f"{text}; disagreements go to arbitration" if agreement.needs_arbitration else text
