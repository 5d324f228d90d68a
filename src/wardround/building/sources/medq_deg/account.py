"""The account of a MedQ-Deg build: rejected questions, funnel and manifest."""

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.duplicates.fingerprint import MAX_DISTANCE
from wardround.building.pipeline.export import hash_set
from wardround.building.sources.medq_deg.duplicates import MIN_SIMILARITY
from wardround.building.sources.medq_deg.pool import PoolSource
from wardround.building.sources.medq_deg.skills import LabelCounts, hierarchy
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

REASONS = (
    *("already degraded", "not a choice", "part of a chain", "no image", "none of the 7 modalities"),
    *("image cannot be decoded", "contradiction", "duplicate"),
)
REJECTED = "rejected.jsonl"
PACKAGES = ("numpy", "pillow", "scipy", "pydicom", "nibabel")
JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True)
class RejectedQuestion:
    """A question that was left out, and why."""

    case: str
    question: str
    reason: str
    detail: str


def funnel(
    read_count: int,
    rejected: list[RejectedQuestion],
    cases: int,
    clean: int,
    per_case: int,
    levels: tuple[str, ...],
    left_out: int = 0,
) -> Table:
    """The questions read, those left out by reason in the order of the checks, and those that remain."""
    reasons = Counter(question.reason for question in rejected)
    lines = [("read", 0, read_count)]
    for reason in REASONS:
        if reasons[reason]:
            lines.append((reason, reasons[reason], lines[-1][2] - reasons[reason]))
    assert lines[-1][2] == clean
    rows = [TableRow((name,), [Cell(out) if name != "read" else Cell(), Cell(left)]) for name, out, left in lines]
    notes = [
        f"{clean} clean questions in {cases} cases; each with {per_case} degradations at {' and '.join(levels)}: "
        f"{clean * per_case * len(levels)} degraded questions, less {left_out} that would be over- or under-degraded.",
        f"Rejected questions are in rejected.jsonl. Images are the same if at most {MAX_DISTANCE} of 255 bits differ; "
        f"questions with the same answer, if they share {MIN_SIMILARITY} of their words. Our choice.",
    ]
    columns = [Column("left out", unit="count"), Column("remain", unit="count")]
    return Table("Questions", ("Step",), columns, rows, notes)


def write_account(
    folder: Path,
    sources: list[PoolSource],
    rejected: list[RejectedQuestion],
    rules: dict[str, Any],
    labels: LabelCounts,
    types: Counter[str],
) -> None:
    """Writes rejected.jsonl and manifest.json, without times and paths of this machine."""
    write_rejected(folder, sources, rejected)
    manifest = _manifest(folder, sources, rules, labels, types)
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest, option=JSON_OPTIONS))


def write_rejected(folder: Path, sources: list[PoolSource], rejected: list[RejectedQuestion]) -> None:
    with (folder / REJECTED).open("w", encoding="utf-8", newline="\n") as file:
        for source in sources:
            for problem in source.problems:
                place = f"{problem.file.name}:{problem.line}" if problem.line else problem.file.name
                field = f": {problem.field}" if problem.field else ""
                entry = {"source": source.name, "reason": "problem", "detail": f"{place}{field}: {problem.message}"}
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        for rejection in sorted(rejected, key=lambda rejection: (rejection.case, rejection.question)):
            file.write(json.dumps(asdict(rejection), ensure_ascii=False) + "\n")


def _manifest(
    folder: Path, sources: list[PoolSource], rules: dict[str, Any], labels: LabelCounts, types: Counter[str]
) -> dict[str, Any]:
    return {
        "benchmark": "medq-deg",
        "versions": {
            "wardround": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **{name: version(name) for name in PACKAGES},
        },
        **rules,
        "same_image_bits": MAX_DISTANCE,
        "same_question_likeness": MIN_SIMILARITY,
        "skills": {"version": hierarchy().version, "sha256": hierarchy().hash},
        "labels_without_place": {
            label or "(no label)": {"questions": count, "why": hierarchy().unplaced.get(label.casefold())}
            for label, count in sorted(labels.unplaced.items())
        },
        "labels_without_skill": {label or "(no label)": n for label, n in sorted(labels.without_skill.items())},
        "questions_by_skill": labels.shares(),
        "skills_by_model": labels.by_model,
        "skills_without_questions": labels.absent_skills(),
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
            for source in sorted(sources, key=lambda source: (source.name, source.layout))
        ],
        **hash_set(folder),
    }
