"""The account of a build: what was left out and why, and what the set was made of."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.sources.medq_deg.duplicates import ALIKE, NEAR
from wardround.building.sources.medq_deg.pool import Given
from wardround.building.sources.medq_deg.skills import hierarchy
from wardround.cases.set import CaseSet
from wardround.reporting.tables.table import Cell, Column, Row, Table

REASONS = (
    *("already degraded", "not a choice", "part of a chain", "no image", "none of the 7 modalities"),
    *("image cannot be decoded", "contradiction", "duplicate"),
)
PACKAGES = ("numpy", "pillow", "scipy", "pydicom", "nibabel")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A question that was left out, and why."""

    case: str
    question: str
    reason: str
    detail: str


def funnel(
    read: int, rejected: list[Rejected], cases: int, clean: int, per_case: int, levels: tuple[str, ...]
) -> Table:
    """In, out, and the reasons between them, in the order in which they are looked for."""
    reasons = Counter(each.reason for each in rejected)
    lines = [("read", 0, read)]
    for reason in REASONS:
        if reasons[reason]:
            lines.append((reason, reasons[reason], lines[-1][2] - reasons[reason]))
    assert lines[-1][2] == clean
    rows = [Row((name,), [Cell(out) if name != "read" else Cell(), Cell(left)]) for name, out, left in lines]
    notes = [
        f"{clean} clean questions in {cases} cases; each with {per_case} degradations at {' and '.join(levels)}: "
        f"{clean * per_case * len(levels)} degraded questions.",
        "What was left out is in rejected.jsonl. Images of the same looks: at most "
        f"{NEAR} of 255 bits apart; questions: the same answer and at least {ALIKE} of the words. Our choice.",
    ]
    columns = [Column("left out", unit="count"), Column("remain", unit="count")]
    return Table("Questions", ("Step",), columns, rows, notes)


def write_account(
    folder: Path,
    given: list[Given],
    rejected: list[Rejected],
    rules: dict[str, Any],
    unplaced: Counter[str],
    types: Counter[str],
) -> None:
    """Writes rejected.jsonl and manifest.json. No time and no path of this machine is in them."""
    with (folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for source in given:
            for problem in source.problems:
                place = f"{problem.file.name}:{problem.line}" if problem.line else problem.file.name
                field = f": {problem.field}" if problem.field else ""
                told = {"source": source.name, "reason": "problem", "detail": f"{place}{field}: {problem.message}"}
                file.write(json.dumps(told, ensure_ascii=False) + "\n")
        for each in sorted(rejected, key=lambda each: (each.case, each.question)):
            file.write(json.dumps(asdict(each), ensure_ascii=False) + "\n")
    (folder / "manifest.json").write_bytes(
        orjson.dumps(_manifest(folder, given, rules, unplaced, types), option=OPTIONS)
    )


OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def _manifest(
    folder: Path, given: list[Given], rules: dict[str, Any], unplaced: Counter[str], types: Counter[str]
) -> dict[str, Any]:
    cases = CaseSet.open(folder)
    images = sorted(file.name for file in (folder / "images").iterdir())  # named by the hash of their bytes
    return {
        "benchmark": "medq-deg",
        "versions": {
            "wardround": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **{name: version(name) for name in PACKAGES},
        },
        **rules,
        "same_image_bits": NEAR,
        "same_question_likeness": ALIKE,
        "skills": {"version": hierarchy().version, "sha256": hierarchy().hash},
        "labels_without_place": {
            label or "(no label)": {"questions": many, "why": hierarchy().unplaced.get(label.casefold())}
            for label, many in sorted(unplaced.items())
        },
        "types": dict(sorted(types.items())),
        "sources": [
            {
                "name": source.name,
                "layout": source.layout,
                "cases": source.cases,
                "questions": source.questions,
                "problems": len(source.problems),
                "blake2b": source.hash,
            }
            for source in sorted(given, key=lambda source: (source.name, source.layout))
        ],
        "cases": {"cases": len(cases), "questions": cases.question_count, "blake2b": cases.hash},
        "images": {"files": len(images), "sha256_of_names": hashlib.sha256("\n".join(images).encode()).hexdigest()},
    }
