"""Exporting: records become the case set, and the account of the build is written beside it.

cases.jsonl, images/   the case set
rejected.jsonl         every record that was left out: step, reason, detail
funnel.csv             in, out, reasons, calls, tokens and money of each step
review/NAME.jsonl      queues for people
manifest.json          versions, settings, sources and hashes, and what is said about the set; no path of this machine
"""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.pipeline.about import About
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Passed
from wardround.building.pipeline.records import Spool
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.reporting.tables.table import Cell, Column, Row, Table

OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS


@dataclass(frozen=True)
class Built:
    """A case set that was built, with its funnel."""

    folder: Path
    cases: int
    funnel: list[Passed]
    queues: dict[str, int]

    def told(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "out": str(self.folder),
            "cases": self.cases,
            "funnel": [step._asdict() for step in self.funnel],
            "review": self.queues,
        }

    def table(self) -> Table:
        """The funnel as people read it, each reason on a line of its own."""
        rows = []
        for step in self.funnel:
            first, *others = [f"{many:,} {reason}" for reason, many in step.reasons.items()] or [""]
            rows.append(Row((step.step, first), [Cell(step.records_in), Cell(step.records_out), Cell(step.tokens)]))
            rows += [Row(("", other), [Cell(said="")] * 3) for other in others]
        columns = [Column(name, unit="count") for name in ("in", "out", "tokens")]
        notes = ["What was left out is in rejected.jsonl, each with its reason."]
        return Table("Funnel", ("Step", "Left out"), columns, rows, notes)


@contextmanager
def new_set(
    out: Path, seed: int, writers: Writers, note: Callable[[str], None], about: About | None = None
) -> Iterator[Build]:
    """A build whose folder appears whole, when all is done, or not at all. `about`: what people say of the set."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(out, "is there already and not empty; a case set is never overwritten")
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}.{os.getpid()}"
    _remove_left_drafts(out)
    draft.mkdir()
    try:
        yield Build(draft, seed, writers, note, about or {})
        if out.exists():
            out.rmdir()
        draft.replace(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_left_drafts(out: Path) -> None:
    """What builds left that were killed. A number may have come to this process again: in a container it often does."""
    for left in out.parent.glob(f".{out.name}.*"):
        number = left.suffix[1:]
        if number.isdigit() and (int(number) == os.getpid() or not _runs(int(number))):
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def export(build: Build, records: Spool, out: Path, settings: dict[str, Any], sources: dict[str, str]) -> Built:
    """Writes the cases (`case` of each record, in their order) and the account. `sources`: names with their hashes."""
    cases = write_case_set((Case.model_validate(record["case"]) for record in records), build.folder)
    _write_lines(build.folder / "rejected.jsonl", [each._asdict() for each in build.rejected])
    for name, items in sorted(build.review.items()):
        (build.folder / "review").mkdir(exist_ok=True)
        _write_lines(build.folder / "review" / f"{name}.jsonl", items)
    _write_funnel(build.folder / "funnel.csv", build.funnel)
    (build.folder / "manifest.json").write_bytes(orjson.dumps(_manifest(build, settings, sources), option=OPTIONS))
    return Built(out, cases, build.funnel, {name: len(items) for name, items in sorted(build.review.items())})


def _write_lines(file: Path, items: list[dict[str, Any]]) -> None:
    file.write_bytes(b"".join(orjson.dumps(item) + b"\n" for item in items))


def _write_funnel(file: Path, funnel: list[Passed]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow([*Passed._fields])
        for step in funnel:
            reasons = "; ".join(f"{many} {reason}" for reason, many in step.reasons.items())
            writer.writerow([*step._replace(reasons=reasons)])  # type: ignore[arg-type]


def _manifest(build: Build, settings: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    cases = CaseSet.read(build.folder)
    images = build.folder / "images"
    names = sorted(file.name for file in images.iterdir()) if images.is_dir() else []
    return {
        **build.about,
        "versions": {"wardround": __version__, "python": ".".join(map(str, sys.version_info[:3]))},
        "seed": build.seed,
        "settings": settings,
        "sources": sources,
        "models": {
            role: {"provider": each.provider, "model": each.model, "revision": each.revision}
            for role, each in sorted(build.writers.settings.items())
        },
        "prompts": dict(sorted(build.writers.prompts.hashes.items())),
        "cases": {"cases": len(cases), "questions": cases.question_count, "blake2b": cases.hash},
        "images": {"files": len(names), "sha256_of_names": hashlib.sha256("\n".join(names).encode()).hexdigest()},
        "rejected": len(build.rejected),
    }
