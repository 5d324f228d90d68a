"""A case set and the verdicts on its items become another case set; the first is never changed.

DIR/cases.jsonl, images/           what is kept, with its edits
DIR/rejected.jsonl, funnel.csv     those of the set, and what the step `review` left out
DIR/manifest.json                  that of the set, with `review`
DIR/reviewed/items.jsonl           what is still to be read, what waits for a second reading or for arbitration
DIR/reviewed/verdicts.jsonl        every verdict that counted
DIR/reviewed/changes.jsonl         every edit with what was there before
DIR/reviewed/agreement.csv         kappa of each batch

Always given are the set as it was built and all verdicts so far: nothing else is remembered between two rounds.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround.building.pipeline.export import OPTIONS, new_set
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Passed, Rejected
from wardround.building.review.decisions import (
    ARBITRATION,
    DISPUTE,
    SETTLED,
    UNREAD,
    WAITING,
    Agreement,
    Settled,
    settle,
)
from wardround.building.review.edits import Change, edited
from wardround.building.review.items import PHYSICIAN, SHARE, items
from wardround.building.review.verdicts import DISCARD, EDIT, KEEP, SAYINGS, Verdict, read_verdicts
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.reporting.tables.table import Cell, Column, Row, Table

STEP = "review"
UNDECIDED = "held: not decided yet"


@dataclass(frozen=True)
class Reviewed:
    """What became of a set by its verdicts."""

    settled: list[Settled]
    agreements: list[Agreement]
    changes: list[Change]
    rejected: list[Rejected]
    funnel: Passed
    without_case: int  # kept or edited items of records that never became a case: to be built again

    def told(self) -> dict[str, Any]:
        """As JSON."""
        states = Counter(each.state for each in self.settled)
        return {
            "items": len(self.settled),
            "states": dict(sorted(states.items())),
            "verdicts": dict(sorted(Counter(each.verdict for each in self.settled if each.verdict).items())),
            "agreement": [_agreement(each) for each in self.agreements],
            "funnel": self.funnel._asdict(),
            "edits": len(self.changes),
            "kept_without_case": self.without_case,
        }

    def table(self) -> Table:
        """What became of the items of each queue, as people read it."""
        rows = []
        for queue in dict.fromkeys(each.item.queue for each in self.settled):
            here = [each for each in self.settled if each.item.queue == queue]
            of_state = Counter(each.state for each in here)
            said = Counter(each.verdict for each in here if each.state == SETTLED)
            counts = [len(here), *(said[each] for each in SAYINGS), of_state[ARBITRATION], of_state[DISPUTE]]
            rows.append(Row((queue,), [Cell(many) for many in [*counts, of_state[UNREAD] + of_state[WAITING]]]))
        names = ("items", *SAYINGS, ARBITRATION, DISPUTE, "to read")
        notes = [_in_words(each) for each in self.agreements]
        return Table("Human check", ("Queue",), [Column(name, unit="count") for name in names], rows, notes)

    def to_read(self) -> Iterator[dict[str, Any]]:
        """The readings that are still wanted, one a line."""
        for each in self.settled:
            if each.state == ARBITRATION:
                seen = [reading.model_dump() for reading in each.readings]
                yield each.item.line(PHYSICIAN) | {"arbitration": True, "readings": seen}
            elif each.state in (UNREAD, WAITING):
                for level in each.item.lacking(reading.level for reading in each.readings):
                    yield each.item.line(level)


def review(
    folder: Path,
    verdicts: Sequence[Path] = (),
    out: Path | None = None,
    *,
    share: float = SHARE,
    seed: int = 0,
    note: Callable[[str], None] = lambda line: None,
) -> Reviewed:
    """Takes verdicts in; where `out` is given, the set that comes of them is written there."""
    if not 0 <= share <= 1:
        raise WardroundError(f"the share of double reading is between 0 and 1, not {share:g}")
    cases = CaseSet.read(folder)
    if (cases.folder / "reviewed").exists():
        raise BadInput(cases.folder, "was made by a review: give the set that it was made of, with all verdicts")
    listed = items(cases, share=share, seed=seed)
    given = read_verdicts(verdicts, {item.item for item in listed})
    settled, agreements = settle(listed, given)
    kept, changes, rejected = _decided(cases, settled)
    there = {case.id for case in cases} | {item.case for item in listed if item.held}
    reasons = dict(Counter(each.reason for each in rejected).most_common())
    funnel = Passed(STEP, len(there), len(kept), reasons)
    alone = sum(each.verdict not in (None, DISCARD) and each.item.case not in there for each in settled)
    reviewed = Reviewed(settled, agreements, changes, rejected, funnel, alone)
    if out is not None:
        with new_set(out, seed, Writers({}, None, out.name), note) as build:
            _write(build.folder, cases, kept, given, reviewed, {"share": share, "seed": seed})
    return reviewed


def _decided(cases: CaseSet, settled: Sequence[Settled]) -> tuple[list[dict[str, Any]], list[Change], list[Rejected]]:
    """The cases that stay or come in, with their edits; what was changed; and what was left out."""
    about: dict[str, list[Settled]] = {}
    held: dict[str, dict[str, Any]] = {}
    for each in settled:
        about.setdefault(each.item.case, []).append(each)
        if each.item.held is not None:
            held.setdefault(each.item.case, each.item.held)
    kept, changes, rejected = [], [], []
    for id, case in {**{case.id: case.as_written() for case in cases}, **held}.items():
        if reason := _left_out(about.get(id, []), id in held):
            rejected.append(Rejected(id, STEP, *reason))
            continue
        for each in about.get(id, []):
            if each.verdict in (KEEP, EDIT):
                case = each.item.added_to(case)
            if (edit := each.edits) is not None:
                case, more = edited(case, edit)
                changes += more
        kept.append(case)
    return kept, changes, rejected


def _left_out(about: Sequence[Settled], is_held: bool) -> tuple[str, str] | None:
    """Why a case is left out: the gravest of what became of its items. It can do without a question to be added."""
    about = [each for each in about if each.item.adds is None]
    for each in about:
        if each.verdict == DISCARD:
            reason = "discarded by reviewers" if each.state == SETTLED else each.state
            return reason, "; ".join(dict.fromkeys(told for reading in each.readings for told in reading.reasons))
    if waiting := next((each for each in about if each.state == ARBITRATION), None):
        return ARBITRATION, waiting.item.item
    if is_held and any(each.verdict is None for each in about):
        return UNDECIDED, next(each.item.item for each in about if each.verdict is None)
    return None


def _write(
    folder: Path,
    cases: CaseSet,
    kept: list[dict[str, Any]],
    given: Sequence[Verdict],
    reviewed: Reviewed,
    settings: dict[str, Any],
) -> None:
    told = [Case.model_validate(case) for case in kept]
    write_case_set(told, folder)
    paths = sorted({image.path for case in told for image in case.images})
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        cases.copy_image(Image(path=path), folder / path)
    for table in sorted(cases.folder.glob("*.toml")):  # what the set was built by
        (folder / table.name).write_bytes(table.read_bytes())
    _account(folder, cases.folder, reviewed)
    (folder / "reviewed").mkdir()
    dumped = [verdict.model_dump() for verdict in given]
    _lines(folder / "reviewed" / "verdicts.jsonl", dumped)
    _lines(folder / "reviewed" / "items.jsonl", reviewed.to_read())
    _lines(folder / "reviewed" / "changes.jsonl", (change._asdict() for change in reviewed.changes))
    _table(folder / "reviewed" / "agreement.csv", [_agreement(each) for each in reviewed.agreements])
    told_of = cases.folder / "manifest.json"
    manifest = orjson.loads(told_of.read_bytes()) if told_of.is_file() else {}
    now = CaseSet.read(folder)
    manifest[STEP] = settings | {
        "of": cases.hash,
        "verdicts": len(given),
        "sha256_of_verdicts": hashlib.sha256((folder / "reviewed" / "verdicts.jsonl").read_bytes()).hexdigest(),
    }
    manifest["cases"] = {"cases": len(now), "questions": now.question_count, "blake2b": now.hash}
    names = "\n".join(Path(path).name for path in paths)
    manifest["images"] = {"files": len(paths), "sha256_of_names": hashlib.sha256(names.encode()).hexdigest()}
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest, option=OPTIONS))


def _account(folder: Path, before: Path, reviewed: Reviewed) -> None:
    """The rejected and the funnel of the build, and then those of the review."""
    _lines(folder / "rejected.jsonl", (each._asdict() for each in reviewed.rejected), before / "rejected.jsonl")
    reasons = "; ".join(f"{many} {reason}" for reason, many in reviewed.funnel.reasons.items())
    row = reviewed.funnel._replace(reasons=reasons)._asdict()  # type: ignore[arg-type]
    _table(folder / "funnel.csv", [row], before / "funnel.csv")


def _agreement(each: Agreement) -> dict[str, Any]:
    told = each._asdict() | {"kappa": None if math.isnan(each.kappa) else round(each.kappa, 6)}
    return told | {"arbitrate": not each.is_good and each.agreed < each.items}


def _in_words(each: Agreement) -> str:
    kappa = "undefined (both always say the same)" if math.isnan(each.kappa) else f"{each.kappa:.2f}"
    told = f"{each.queue}: {each.one} and {each.other}: kappa {kappa}, the same in {each.agreed} of {each.items} items"
    return f"{told}; disagreements go to arbitration" if not each.is_good and each.agreed < each.items else told


def _lines(file: Path, lines: Any, after: Path | None = None) -> None:
    start = after.read_bytes() if after is not None and after.is_file() else b""
    file.write_bytes(start + b"".join(orjson.dumps(line) + b"\n" for line in lines))


def _table(file: Path, rows: list[dict[str, Any]], after: Path | None = None) -> None:
    there = after is not None and after.is_file()
    file.write_text(after.read_text(encoding="utf-8") if after is not None and there else "", encoding="utf-8")
    with file.open("a", encoding="utf-8", newline="") as opened:
        columns = list(rows[0]) if rows else ["queue", "one", "other", "items", "agreed", "kappa", "arbitrate"]
        writer = csv.DictWriter(opened, columns, lineterminator="\n")
        if not there:
            writer.writeheader()
        writer.writerows(rows)
