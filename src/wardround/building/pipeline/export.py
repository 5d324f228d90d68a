"""Writes the case set of a build, and the account of the build beside it.

A build without a case writes rejected.jsonl and funnel.csv alone; the next build may replace them.

cases.jsonl, images/   the case set
rejected.jsonl         every record that was left out: step, reason, detail
funnel.csv             in, out, reasons, calls, tokens and money of each step
review/NAME.jsonl      review queues
terminology.jsonl      what a model renamed: case, name, before, after, model, used (eurorad, pmc)
other-options.jsonl    what the other `--options` would have offered (eurorad, pmc)
manifest.json          versions, settings, sources, hashes, and the set's metadata; no path of this machine
"""

import csv
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wardround import __version__
from wardround.building.pipeline.about import About
from wardround.building.pipeline.models import BuildModels
from wardround.building.pipeline.pipeline import Build, EmptyBuild, RecordFile, StepCount
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case
from wardround.core.errors import BadInput
from wardround.core.files import new_folder, refuse_inside
from wardround.core.store.location import StoreLocation
from wardround.core.study import CandidateSettings
from wardround.core.text import safe_row
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

ACCOUNT = {"rejected.jsonl", "funnel.csv"}
OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS


@dataclass(frozen=True)
class BuiltSet:
    """A case set that was built, its funnel, and the sizes of its review queues."""

    folder: Path
    cases: int
    funnel: list[StepCount]
    queues: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "out": str(self.folder),
            "cases": self.cases,
            "funnel": [step._asdict() for step in self.funnel],
            "review": self.queues,
        }

    def table(self) -> Table:
        """The funnel as a table, with one line for each reason."""
        rows = []
        for step in self.funnel:
            first, *others = [f"{count:,} {reason}" for reason, count in step.reasons.items()] or [""]
            rows.append(
                TableRow((step.step, first), [Cell(step.records_in), Cell(step.records_out), Cell(step.tokens)])
            )
            rows += [TableRow(("", other), [Cell(text="")] * 3) for other in others]
        columns = [Column(name, unit="count") for name in ("in", "out", "tokens")]
        notes = ["Rejected records are in rejected.jsonl, each with its reason."]
        return Table("Funnel", ("Step", "Left out"), columns, rows, notes)


@contextmanager
def new_set(
    out: Path,
    seed: int,
    note: Callable[[str], None],
    about: About | None = None,
    models: dict[str, CandidateSettings] | None = None,
    answers: StoreLocation | None = None,
    *,
    source: Path | None = None,
) -> Iterator[Build]:
    """A build whose folder appears complete at the end, or not at all. It may not lie inside `source`.

    `about`: the metadata of the set; `models`: those that it asks, by role, with `answers`, the store of their answers.
    """
    refuse_inside(out, [source] if source else [])
    if out.exists() and (not out.is_dir() or {file.name for file in out.iterdir()} - ACCOUNT):
        raise BadInput(out, "already exists and is not empty; a case set is never overwritten")
    for name in ACCOUNT:  # of a build without a case
        (out / name).unlink(missing_ok=True)
    try:
        with new_folder(out) as draft:
            build = Build(draft, seed, BuildModels(models or {}, answers, out.name, note), note, about or {})
            yield build
    except EmptyBuild:
        out.mkdir(exist_ok=True)
        _write_account(build, out)
        raise


def _write_account(build: Build, folder: Path) -> None:
    write_lines(folder / "rejected.jsonl", [record._asdict() for record in build.rejected])
    write_funnel(folder / "funnel.csv", build.funnel)


def export(build: Build, records: RecordFile, out: Path, settings: dict[str, Any], sources: dict[str, str]) -> BuiltSet:
    """Writes the cases (`case` of each record, in order) and the account. `sources`: hashes by name."""
    cases = write_case_set((Case.model_validate(record["case"]) for record in records), build.folder)
    _write_account(build, build.folder)
    for name, items in sorted(build.review.items()):
        (build.folder / "review").mkdir(exist_ok=True)
        write_lines(build.folder / "review" / f"{name}.jsonl", items)
    for name, lines in sorted(build.side_files.items()):
        if lines:
            write_lines(build.folder / name, lines)
    for what, number in sorted((+build.counts).items()):
        build.note(f"{number:,} {what}")
    (build.folder / "manifest.json").write_bytes(orjson.dumps(_manifest(build, settings, sources), option=OPTIONS))
    return BuiltSet(out, cases, build.funnel, {name: len(items) for name, items in sorted(build.review.items())})


def write_lines(file: Path, items: Iterable[object], *, start: bytes = b"") -> None:
    file.write_bytes(start + b"".join(orjson.dumps(item) + b"\n" for item in items))


def write_funnel(file: Path, funnel: list[StepCount], start: str = "") -> None:
    """Writes one line for each step; `start` is an earlier funnel that is continued."""
    rows = []
    for step in funnel:
        reasons = "; ".join(f"{count} {reason}" for reason, count in step.reasons.items())
        rows.append(step._asdict() | {"reasons": reasons})
    write_table(file, StepCount._fields, rows, start)


def write_table(file: Path, columns: Sequence[str], rows: list[dict[str, Any]], start: str = "") -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        opened.write(start)
        writer = csv.writer(opened, lineterminator="\n")
        if not start:
            writer.writerow(columns)
        writer.writerows(safe_row(row.get(column, "") for column in columns) for row in rows)


def _manifest(build: Build, settings: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    return {
        **build.about,
        "versions": {"wardround": __version__, "python": ".".join(map(str, sys.version_info[:3]))},
        "seed": build.seed,
        "settings": settings,
        "sources": sources,
        "models": {
            role: {"provider": model.provider, "model": model.model, "revision": model.revision}
            for role, model in sorted(build.models.settings.items())
        },
        "prompts": dict(sorted(build.models.prompts.hashes.items())),
        **hash_set(build.folder),
        "rejected": len(build.rejected),
        "counts": dict(sorted((+build.counts).items())),
    }


def hash_set(folder: Path) -> dict[str, Any]:
    """The counts and hashes of a set's cases and images, for its manifest."""
    images = folder / "images"
    return describe_content(folder, sorted(file.name for file in images.iterdir()) if images.is_dir() else [])


def describe_content(folder: Path, images: list[str]) -> dict[str, Any]:
    """The counts and hashes of the cases in a folder, and of images by their names."""
    cases = CaseSet.read(folder)
    return {
        "cases": {"cases": len(cases), "questions": cases.question_count, "blake2b": cases.hash},
        "images": {"files": len(images), "sha256_of_names": hashlib.sha256("\n".join(images).encode()).hexdigest()},
    }
